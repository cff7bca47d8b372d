/* SPDX-License-Identifier: Apache-2.0 */
/* new: --shape in[H+2*R,W+2*R] --shape out[H,W] --size H=90,W=520,R=3 --constraint R<=20 */
#include <stdint.h>
/* Windows of whole numbers, of a radius that can be larger than the rule's rows allow. */
void window_whole(const int *in, int *out, int H, int W, int R)
{
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++) {
            int sum = 0;
            for (int dy = 0; dy <= 2 * R; dy++)
                for (int dx = 0; dx <= 2 * R; dx++)
                    sum += in[(y + dy) * (W + 2 * R) + x + dx];
            out[y * W + x] = sum / ((2 * R + 1) * (2 * R + 1));
        }
}
