/* SPDX-License-Identifier: Apache-2.0 */
/* new: --shape in[H,W] --shape out[H,W] --size H=70,W=300 */
#include <stdint.h>
/* The largest of a window, its border left out; a window of more columns than rows. */
void window_max(const float *in, float *out, int H, int W)
{
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++) {
            float m = -1e30f;
            for (int dy = -2; dy <= 2; dy++)
                for (int dx = -4; dx < 4; dx++)
                    if (y + dy >= 0 && y + dy < H && x + dx >= 0 && x + dx < W) {
                        float v = in[(y + dy) * W + x + dx];
                        m = v > m ? v : m;
                    }
            out[y * W + x] = m;
        }
}
