/* SPDX-License-Identifier: Apache-2.0 */
/* A bound divides by zero where its loop is not come to. */
/* new: --shape idx[N] --shape x[N] --shape y[S] --shape z[N] --inout y --index idx --size N=9000,M=9500,R=1,S=4 */
#include <stdint.h>
void guarded_bound(const int32_t *idx, const float *x, float *y, float *z, int64_t N, int64_t M,
                   int64_t R, int64_t S)
{
    for (int64_t n = 0; n < N; n++)
        if (R > 1)
            for (int64_t m = 0; m < M / (R - 1); m++)
                y[(idx[n] + m) % S] += x[n];
}
