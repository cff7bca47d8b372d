/* SPDX-License-Identifier: Apache-2.0 */
ITEM(item)
{
    int64_t row = item / N, column = item % N;
    double sum = 0, size = 0, partial = 0;
    for (int64_t k = 0; k < K; k++) {
        double term = A(row * K + k) * B(column * K + k);
        sum += term;
        size += fabs(term);
        partial += fabs(sum);
    }
    PUT_SCALED_C(item, sum, fabs(sum) + 1.5e-5 * (partial + 4 * size));
}
