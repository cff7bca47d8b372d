/* SPDX-License-Identifier: Apache-2.0 */
/* new: --shape x[H,W] --shape w[K,K] --shape y[H-K+1,W-K+1] --size H=700,W=710,K=5 */
#include <stdint.h>
void conv2d(const float *x, const float *w, float *y, int64_t H, int64_t W, int64_t K)
{
    for (int64_t i = 0; i < H - K + 1; i++)
        for (int64_t j = 0; j < W - K + 1; j++) {
            y[i * (W - K + 1) + j] = 0;
            for (int64_t p = 0; p < K; p++)
                for (int64_t q = 0; q < K; q++)
                    y[i * (W - K + 1) + j] += x[(i + p) * W + j + q] * w[p * K + q];
        }
}
