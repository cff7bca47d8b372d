/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdint.h>

void layernorm_residual(const float *X, const float *R, const float *G, const float *B, float *Y,
                        int64_t M, int64_t N)
{
    for (int64_t m = 0; m < M; m++) {
        float sum = 0, squares = 0;
        for (int64_t i = 0; i < N; i++)
            sum += X[m * N + i] + R[m * N + i];
        float mean = sum / N;
        for (int64_t i = 0; i < N; i++) {
            float s = X[m * N + i] + R[m * N + i] - mean;
            squares += s * s;
        }
        float scale = 1 / sqrtf(squares / N + 1e-5f);
        for (int64_t i = 0; i < N; i++)
            Y[m * N + i] = (X[m * N + i] + R[m * N + i] - mean) * scale * G[i] + B[i];
    }
}
