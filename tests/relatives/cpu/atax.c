/* SPDX-License-Identifier: Apache-2.0 */
/* new: --shape A[M,N] --shape x[N] --shape y[N] --shape tmp[M] --size M=1500,N=1600 */
#include <stdint.h>
void atax(const double *A, const double *x, double *y, double *tmp, int64_t M, int64_t N)
{
    for (int64_t j = 0; j < N; j++)
        y[j] = 0;
    for (int64_t i = 0; i < M; i++) {
        tmp[i] = 0;
        for (int64_t j = 0; j < N; j++)
            tmp[i] += A[i * N + j] * x[j];
        for (int64_t j = 0; j < N; j++)
            y[j] += A[i * N + j] * tmp[i];
    }
}
