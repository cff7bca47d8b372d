/* One item is one row. A row of many terms of one sign: a running float32 sum errs by its partial sums
 * (2^-24 of each, which is a 500th of the tolerance). */
ITEM(row)
{
    double sum = 0, size = 0, partial = 0;
    for (int64_t k = (int64_t)offsets(row); k < (int64_t)offsets(row + 1); k++) {
        double term = values(k) * x((int64_t)columns(k));
        sum += term;
        size += fabs(term);
        partial += fabs(sum);
    }
    PUT_SCALED_y(row, sum, fmax(size, partial / 500));
}
