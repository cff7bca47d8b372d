/* SPDX-License-Identifier: Apache-2.0 */
/* new: --shape src[H,W] --shape dst[H,W] --size H=300,W=310 */
#include <stdint.h>

/* The mean of 3 x 3, the border replicated. */
static float mean9(const float *src, int64_t H, int64_t W, int64_t y, int64_t x)
{
    float sum = 0;
    int64_t dy, dx;
    for (dy = -1; dy <= 1; dy++)
        for (dx = -1; dx <= 1; dx++) {
            int64_t sy = y + dy, sx = x + dx;
            if (sy < 0)
                sy = 0;
            if (sy >= H)
                sy = H - 1;
            if (sx < 0)
                sx = 0;
            if (sx >= W)
                sx = W - 1;
            sum += src[sy * W + sx];
        }
    return sum / 9;
}

void box_mean(const float *src, float *dst, int64_t H, int64_t W)
{
    int64_t y, x;
    for (y = 0; y < H; y++)
        for (x = 0; x < W; x++)
            dst[y * W + x] = mean9(src, H, W, y, x);
}
