/* SPDX-License-Identifier: Apache-2.0 */
/* Sums at places that are read, behind a row of others. */
/* new: --shape idx[N] --shape x[N,D] --shape out[R,D] --inout out --index idx
        --size N=9000,D=3,R=40 */
#include <stdint.h>
void bins(const int32_t *idx, const float *x, float *out, int64_t N, int64_t D, int64_t R)
{
    (void)R;
    for (int64_t n = 1; n < N; n++)
        for (int64_t d = 0; d < D; d++)
            out[(idx[n] % 40) * D + d] += x[n * D + d] * 0.125f;
}
