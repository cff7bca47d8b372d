/* SPDX-License-Identifier: Apache-2.0 */
/* new: --shape y[N] --shape X[N,M] --inout y --size N=300,M=310 */
/* A sum of what is positive, written as a choice of the greater. */
#include <stdint.h>
void max_of_itself(int32_t *y, const int32_t *X, int64_t N, int64_t M)
{
    for (int64_t i = 0; i < N; i++) {
        int32_t total = 0;
        for (int64_t j = 0; j < M; j++)
            if (total + X[i * M + j] > total)
                total = total + X[i * M + j];
        y[i] = total;
    }
}
