/* SPDX-License-Identifier: Apache-2.0 */
/* Rings and rows made flat: remainders and quotients of what grows with a counter. */
/* new: --shape x[H,W] --shape y[H,W] --shape z[W] --inout z --size H=90,W=70 */
#include <stdint.h>
void remainders(const float *x, float *y, float *z, int64_t H, int64_t W)
{
    for (int64_t i = 0; i < H * W; i++)
        y[i] = x[(i / W) * W + (i * 5 + 2) % W] - x[i % W];
    for (int64_t h = 0; h < H; h++)
        for (int64_t i = 1; i < W; i++) {
            z[i] += x[h * W + (i + h) % W] * 0.5f;
            if (i % 3 == 1)
                z[(2 * i + h) % W] -= x[h * W + i / 3];
        }
}
