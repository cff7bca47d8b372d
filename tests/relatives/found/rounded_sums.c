/* SPDX-License-Identifier: Apache-2.0 */
/* Floats are added to integers: each sum is cut. */
/* new: --shape idx[N] --shape x[N] --shape y[R] --shape z[N] --inout y --index idx --size N=9000,M=9500,R=4 */
#include <stdint.h>
void rounded_sums(const int32_t *idx, const float *x, int32_t *y, float *z, int64_t N, int64_t M,
                  int64_t R)
{
    for (int64_t n = 0; n < N; n++)
        for (int64_t m = 0; m < M; m++)
            y[(idx[n] + m) % R] += x[n] * 3.0f;
}
