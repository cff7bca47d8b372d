/* SPDX-License-Identifier: Apache-2.0 */
/* new: --shape A[N,N] --shape B[N,N] --shape tmp[N] --shape x[N] --shape y[N] --size N=1300 */
#include <stdint.h>
void gesummv(const double *A, const double *B, double *tmp, const double *x, double *y, int64_t N)
{
    for (int64_t i = 0; i < N; i++) {
        tmp[i] = 0.0;
        y[i] = 0.0;
        for (int64_t j = 0; j < N; j++) {
            tmp[i] = A[i * N + j] * x[j] + tmp[i];
            y[i] = B[i * N + j] * x[j] + y[i];
        }
        y[i] = 1.5 * tmp[i] + 1.2 * y[i];
    }
}
