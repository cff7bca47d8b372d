/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>

void stored_weights(const float *X, const float *W, float *Y, int64_t M, int64_t N, int64_t K)
{
    for (int64_t m = 0; m < M; m++)
        for (int64_t n = 0; n < N; n++) {
            float sum = 0;
            for (int64_t k = 0; k < K; k++)
                sum += X[m * K + k] * W[n * K + k];
            Y[m * N + n] = sum;
        }
}
