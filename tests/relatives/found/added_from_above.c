/* SPDX-License-Identifier: Apache-2.0 */
/* What a row adds to y comes from the row above. */
/* new: --shape A[N,M] --shape y[M] --shape q[N] --shape x[N] --shape p[M] --shape w[N] --inout y --inout q --inout w --size N=100,M=110 */
#include <stdint.h>

void added_from_above(const double *A, double *y, double *q, const double *x, const double *p,
                      double *w, int64_t N, int64_t M)
{
    for (int64_t i = 1; i < N; i++) {
        double a = 0;
        for (int64_t k = 0; k < M; k++) {
            y[k] += w[i - 1] * A[i * M + k];
            a += A[i * M + k] * p[k];
        }
        w[i] = a;
    }
}
