/* SPDX-License-Identifier: Apache-2.0 */
/* Rows that are added to one array, beside a sum of each row's own; the last row is left out. */
/* new: --shape A[M,N] --shape x[N] --shape y[N] --shape tmp[M] --inout y --size M=70,N=330 */
#include <stdint.h>
void row_sums(const double *A, const double *x, double *y, double *tmp, int64_t M, int64_t N)
{
    tmp[M - 1] = 0;
    for (int64_t i = 0; i < M - 1; i++) {
        tmp[i] = x[0];
        for (int64_t j = 1; j < N; j++)
            tmp[i] += A[i * N + j] * x[j];
        for (int64_t j = 0; j < N - 1; j++)
            y[j] -= 0.5 * A[i * N + j] * tmp[i];
        y[N - 1] += tmp[i];
    }
}
