/* SPDX-License-Identifier: Apache-2.0 */
/* new: --shape in[H,W] --shape out[H,W] --size H=700,W=720,R=3 --constraint R<=8 */
#include <stdint.h>
void boxblur(const float *in, float *out, int64_t H, int64_t W, int64_t R)
{
    for (int64_t y = 0; y < H; y++)
        for (int64_t x = 0; x < W; x++) {
            float sum = 0.0f;
            int32_t n = 0;
            for (int64_t dy = -R; dy <= R; dy++)
                for (int64_t dx = -R; dx <= R; dx++)
                    if (y + dy >= 0 && y + dy < H && x + dx >= 0 && x + dx < W) {
                        sum += in[(y + dy) * W + x + dx];
                        n++;
                    }
            out[y * W + x] = sum / (float)n;
        }
}
