/* SPDX-License-Identifier: Apache-2.0 */
/* The same, spelled out. */
/* new: --shape x[N] --shape y[M] --inout y --shape w[M,N] --size N=9000,M=9500 */
#include <stdint.h>
void rounded_sums_spelled(const float *x, int32_t *y, const float *w, int64_t N, int64_t M)
{
    for (int64_t n = 0; n < N; n++)
        for (int64_t m = 0; m < M; m++)
            y[m] = y[m] + w[m * N + N - 1 - n] * 9.0f;
    for (int64_t m = 0; m < M; m++)
        for (int64_t n = 0; n < N; n++)
            y[n % 7] = y[n % 7] - w[m * N + n] * 5.0f;
}
