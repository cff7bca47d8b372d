/* SPDX-License-Identifier: Apache-2.0 */
/* Running sums of columns go down a strip per thread, then 2R+1 of them are added in registers. */
#include <omp.h>
#include <stdint.h>
#include <stdlib.h>

enum { B = 64 };

static void blur_strip(const float *restrict in, float *restrict out, int64_t H, int64_t W,
                       int64_t R, int64_t from, int64_t to)
{
    const int64_t wide = (W + B - 1) / B * B + 2 * R;
    float *col = calloc((size_t)wide, sizeof *col); /* with R zeros on either side */
    float *share = calloc((size_t)wide, sizeof *share);
    for (int64_t x = 0; x < W; x++)
        share[x] = 1.0f / (float)((x + R < W ? x + R + 1 : W) - (x > R ? x - R : 0));
    for (int64_t y = from > R ? from - R : 0; y < from + R && y < H; y++)
        for (int64_t x = 0; x < W; x++)
            col[R + x] += in[y * W + x];
    for (int64_t y = from; y < to; y++) {
        const float rows = (float)((y + R < H ? y + R + 1 : H) - (y > R ? y - R : 0));
        for (int64_t x = 0; x < W && y + R < H; x++)
            col[R + x] += in[(y + R) * W + x];
        for (int64_t x = 0; x < W; x += B) {
            const int64_t n = W - x < B ? W - x : B;
            float sum[B] = {0};
            for (int64_t d = 0; d <= 2 * R; d++)
                for (int v = 0; v < B; v++)
                    sum[v] += col[x + d + v];
            for (int64_t v = 0; v < n; v++)
                out[y * W + x + v] = sum[v] * share[x + v] / rows;
        }
        for (int64_t x = 0; x < W && y >= R; x++)
            col[R + x] -= in[(y - R) * W + x];
    }
    free(col);
    free(share);
}

void boxblur_by_hand(const float *in, float *out, int64_t H, int64_t W, int64_t R)
{
    const int64_t strips = omp_get_max_threads();
#pragma omp parallel for schedule(static)
    for (int64_t s = 0; s < strips; s++)
        blur_strip(in, out, H, W, R, H * s / strips, H * (s + 1) / strips);
}
