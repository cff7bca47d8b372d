/* SPDX-License-Identifier: Apache-2.0 */
/* new: --shape A[N,N] --shape x1[N] --shape x2[N] --shape v1[N] --shape v2[N] --inout x1 --inout x2 --size N=1500 */
#include <stdint.h>
void mvt(const double *A, double *x1, double *x2, const double *v1, const double *v2, int64_t N)
{
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < N; j++)
            x1[i] = x1[i] + A[i * N + j] * v1[j];
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < N; j++)
            x2[i] = x2[i] + A[j * N + i] * v2[j];
}
