/* SPDX-License-Identifier: Apache-2.0 */
/* What rows add to y is made in front of it, row by row. */
/* new: --shape A[N,M] --shape y[M] --shape q[N] --shape x[N] --shape p[M] --shape w[N] --inout y --inout q --inout w --size N=100,M=110 */
#include <stdint.h>

void added_in_front(const double *A, double *y, double *q, const double *x, const double *p,
                    double *w, int64_t N, int64_t M)
{
    for (int64_t i = 0; i < N; i++) {
        double a = 0;
        w[i] = x[i] * 2 + 1;
        for (int64_t k = 0; k < M; k++) {
            y[k] += w[i] * A[i * M + k];
            a += A[i * M + k] * p[k];
        }
        q[i] = a;
    }
}
