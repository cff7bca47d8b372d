/* SPDX-License-Identifier: Apache-2.0 */
ITEM(item)
{
    int64_t m = item / N, n = item % N;
    double sum = 0, size = 0;
    for (int64_t k = 0; k < K; k++) {
        double term = X(m * K + k) * W(n * K + k);
        sum += term;
        size += fabs(term);
    }
    PUT_SCALED_Y(item, sum, size);
}
