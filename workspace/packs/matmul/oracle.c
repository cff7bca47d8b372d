/* One item is one element of C. What a float32 running sum may err by follows the size of its partial
 * sums, not only of its terms: long sums of equal sign are given room for an honest kernel, and long
 * random ones none for inputs rounded to TF32. */
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
    PUT_SCALED_C(item, sum, (partial + 4 * size) / 256);
}
