/* SPDX-License-Identifier: Apache-2.0 */
/* new: --shape y[N] --shape z[N] --shape X[N,M] --inout y --inout z --size N=300,M=310 */
/* What is compared is not what is taken: no maximum. A rule once made one of it. */
#include <stdint.h>
void max_of_other(int32_t *y, int32_t *z, const int32_t *X, int64_t N, int64_t M)
{
    for (int64_t i = 0; i < N; i++) {
        int32_t top = X[i * M], at = top;
        for (int64_t j = 1; j < M; j++)
            top = X[i * M + j - 1] > top ? X[i * M + j - 0] : top;
        y[i] = top;
        for (int64_t j = 1; j < M; j++)
            if (X[i * M + j - 1] > at)
                at = X[i * M + j - 0];
        z[i] = at;
    }
}
