/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>

void convolution(const float *X, const float *W, float *Y, int64_t C, int64_t L, int64_t H,
                 int64_t V, int64_t F, int64_t I, int64_t J)
{
    for (int64_t l = 0; l < L; l++)
        for (int64_t y = 0; y < H; y++)
            for (int64_t x = 0; x < V; x++) {
                float sum = 0;
                for (int64_t c = 0; c < C; c++)
                    for (int64_t p = 0; p < F; p++)
                        for (int64_t q = 0; q < F; q++)
                            sum +=
                                X[(c * I + y + p) * J + x + q] * W[((l * C + c) * F + p) * F + q];
                Y[(l * H + y) * V + x] = sum;
            }
}
