/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>

void solve_lower(const float *L, const float *B, float *X, int64_t N, int64_t C)
{
    for (int64_t c = 0; c < C; c++)
        for (int64_t n = 0; n < N; n++) {
            double rest = B[n * C + c];
            for (int64_t k = 0; k < n; k++)
                rest -= (double)L[n * N + k] * X[k * C + c];
            X[n * C + c] = (float)(rest / L[n * N + n]);
        }
}
