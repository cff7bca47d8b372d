/* SPDX-License-Identifier: Apache-2.0 */
/* The names that chunks would have are taken. */
/* new: --shape idx[N] --shape x[N] --shape y[R] --shape z[N] --inout y --index idx --size N=9000,M=9500,R=4 */
#include <stdint.h>
void named_from_to(const int32_t *idx, const float *x, float *y, float *z, int64_t N, int64_t M,
                   int64_t R)
{
    int64_t n_from = 1, n_to = N;
    for (int64_t n = n_from; n < n_to; n++)
        for (int64_t m = 0; m < M; m++)
            y[(idx[n] + m) % R] += x[n];
}
