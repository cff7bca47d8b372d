/* One item is one row. */
ITEM(row)
{
    double sum = 0, size = 0;
    for (int64_t k = (int64_t)offsets(row); k < (int64_t)offsets(row + 1); k++) {
        double term = values(k) * x((int64_t)columns(k));
        sum += term;
        size += fabs(term);
    }
    PUT_SCALED_y(row, sum, size);
}
