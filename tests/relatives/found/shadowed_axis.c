/* SPDX-License-Identifier: Apache-2.0 */
/* A local has the name of the size that says how many sums there are. */
/* new: --shape idx[N] --shape x[N] --shape y[R] --inout y --index idx --size N=9000,R=40 */
#include <stdint.h>
void shadowed_axis(const int32_t *idx, const float *x, float *y, int64_t N, int64_t R)
{
    int64_t L = R;
    {
        int64_t R = 3;
        for (int64_t n = 0; n < N; n++)
            y[idx[n] % L] += x[n] * R;
    }
}
