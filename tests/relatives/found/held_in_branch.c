/* SPDX-License-Identifier: Apache-2.0 */
/* outer_lanes, outer_strip: an element that is held for each lane stands in a branch too. */
/* new: --shape y[N] --inout y --shape X[M,N] --shape s[N] --inout s --size N=300,M=310 */
#include <stdint.h>
void held_in_branch(float *y, const float *X, float *s, int64_t N, int64_t M)
{
    for (int64_t i = 0; i < N; i++)
        y[i] = X[i];
    for (int64_t i = 0; i < N; i++) {
        s[i] = y[i] * 0.5f;
        for (int64_t j = 0; j < M; j++)
            y[i] = X[j * N + i] > y[i] ? X[j * N + i] : y[i];
    }
}
