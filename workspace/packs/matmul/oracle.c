/* One item is one element of C. */
ITEM(item)
{
    int64_t row = item / N, column = item % N;
    double sum = 0, size = 0;
    for (int64_t k = 0; k < K; k++) {
        double term = A(row * K + k) * B(k * N + column);
        sum += term;
        size += fabs(term);
    }
    PUT_SCALED_C(item, sum, size);
}
