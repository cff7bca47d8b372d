/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>

void batched_transpose(const float *X, float *Y, int64_t L, int64_t M, int64_t N)
{
    for (int64_t l = 0; l < L; l++)
        for (int64_t m = 0; m < M; m++)
            for (int64_t n = 0; n < N; n++)
                Y[(l * N + n) * M + m] = X[(l * M + m) * N + n];
}
