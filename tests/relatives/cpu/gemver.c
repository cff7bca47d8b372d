/* SPDX-License-Identifier: Apache-2.0 */
/* new: --shape A[N,N] --shape u1[N] --shape v1[N] --shape u2[N] --shape v2[N] --shape w[N] --shape x[N] --shape y[N] --shape z[N] --inout A --inout x --size N=1100 */
#include <stdint.h>
void gemver(double *A, const double *u1, const double *v1, const double *u2, const double *v2,
            double *w, double *x, const double *y, const double *z, int64_t N)
{
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < N; j++)
            A[i * N + j] = A[i * N + j] + u1[i] * v1[j] + u2[i] * v2[j];
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < N; j++)
            x[i] = x[i] + 1.2 * A[j * N + i] * y[j];
    for (int64_t i = 0; i < N; i++)
        x[i] = x[i] + z[i];
    for (int64_t i = 0; i < N; i++)
        w[i] = 0.0;
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < N; j++)
            w[i] = w[i] + 1.5 * A[i * N + j] * x[j];
}
