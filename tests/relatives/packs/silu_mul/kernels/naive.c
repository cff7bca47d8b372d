/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdint.h>

void silu_mul(const float *X, const float *Z, float *Y, int64_t R, int64_t D)
{
    for (int64_t r = 0; r < R; r++)
        for (int64_t d = 0; d < D; d++) {
            float x = X[r * D + d];
            Y[r * D + d] = x / (1 + expf(-x)) * Z[r * D + d];
        }
}
