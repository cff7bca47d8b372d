/* SPDX-License-Identifier: Apache-2.0 */
/* The least difference over the places around a block; those outside are left out by a jump, in the
 * middle of a tile's statements. */
/* new: --shape cur[64] --shape ref[H,W] --shape best[1] --size H=40,W=56,R=40 */
#include <stdint.h>
void block_match(const double *cur, const double *ref, double *best, int64_t H, int64_t W,
                 int64_t R)
{
    double least = 1e30;
    for (int64_t dy = -R; dy <= R; dy++)
        for (int64_t dx = -R; dx <= R; dx++) {
            if (dy < 0 || dx < 0 || dy + 8 > H || dx + 8 > W)
                continue;
            double sum = 0;
            for (int64_t y = 0; y < 8; y++)
                for (int64_t x = 0; x < 8; x++) {
                    double d = cur[y * 8 + x] - ref[(dy + y) * W + dx + x];
                    sum += d * d;
                }
            if (sum < least)
                least = sum;
        }
    best[0] = least;
}
