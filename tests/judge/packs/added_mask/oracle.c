/* SPDX-License-Identifier: Apache-2.0 */
ITEM(item)
{
    double top = -INFINITY, sum = 0;
    for (int64_t n = 0; n < N; n++)
        top = fmax(top, X(item * N + n) + A(item * N + n));
    for (int64_t n = 0; n < N; n++)
        sum += exp(X(item * N + n) + A(item * N + n) - top);
    for (int64_t n = 0; n < N; n++)
        PUT_Y(item * N + n, exp(X(item * N + n) + A(item * N + n) - top) / sum);
}
