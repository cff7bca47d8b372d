/* SPDX-License-Identifier: Apache-2.0 */
/* new: --shape L[N,N] --shape b[N] --shape x[N] --shift L=3 --size N=1400 */
#include <stdint.h>
void trisolv(const double *L, const double *b, double *x, int64_t N)
{
    for (int64_t i = 0; i < N; i++) {
        x[i] = b[i];
        for (int64_t j = 0; j < i; j++)
            x[i] -= L[i * N + j] * x[j] / (double)N;
        x[i] = x[i] / L[i * N + i];
    }
}
