/* SPDX-License-Identifier: Apache-2.0 */
/* Steps of D in a row that is longer than D. */
/* new: --shape y[N+K*D] --inout y --shape x[N] --shape w[K] --size N=400,D=300,K=500 */
#include <stdint.h>
void dilated(double *y, const double *x, const double *w, int64_t N, int64_t D, int64_t K)
{
    for (int64_t i = 0; i < N; i++)
        for (int64_t k = 0; k < K; k++)
            y[i + k * D] = y[i + k * D] * 0.5 + x[i] * w[k];
}
