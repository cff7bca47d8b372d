/* One item is one element of C. Rounding C to bfloat16 costs up to 2^-8 = 3.9e-3 of it; the rest of
 * the scale is what a float32 running sum may err by (matmul's), in units of rtol. */
ITEM(item)
{
    int64_t row = item / N, column = item % N;
    double sum = 0, size = 0, partial = 0;
    for (int64_t k = 0; k < K; k++) {
        double term = A(row * K + k) * B(k * N + column);
        sum += term;
        size += fabs(term);
        partial += fabs(sum);
    }
    PUT_SCALED_C(item, sum, fabs(sum) + 1.5e-5 * (partial + 4 * size));
}
