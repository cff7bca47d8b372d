/* SPDX-License-Identifier: Apache-2.0 */
/* The pointer to the sums is moved before the loop. */
/* new: --shape idx[N] --shape x[N] --shape y[R] --shape z[N] --inout y --index idx --size N=9000,M=9500,R=4 */
#include <stdint.h>
void moved_sums(const int32_t *idx, const float *x, float *y, float *z, int64_t N, int64_t M,
                int64_t R)
{
    y += 2;
    for (int64_t n = 0; n < N; n++)
        for (int64_t m = 0; m < M; m++)
            y[(idx[n] + m) % R - 2] += x[n];
}
