/* SPDX-License-Identifier: Apache-2.0 */
/* new: --shape src[H,W] --shape dst[H,W] --inout dst --size H=300,W=310 */
#include <stdint.h>

#define PIXEL(y, x) src[(y)*W + (x)]

static void swap_if(int32_t *p, int i, int j)
{
    int32_t t;
    if (p[i] > p[j]) {
        t = p[i];
        p[i] = p[j];
        p[j] = t;
    }
}

/* The median of nine by a bubble of them. */
static int32_t median_of(int32_t *p, int n)
{
    int a, b;
    for (a = 0; a < n - 1; a++)
        for (b = 0; b < n - 1 - a; b++)
            swap_if(p, b, b + 1);
    return p[n / 2];
}

void median9(const int32_t *src, int32_t *dst, int64_t H, int64_t W)
{
    int64_t y, x;
    for (y = 1; y < H - 1; y++)
        for (x = 1; x < W - 1; x++) {
            int32_t window[9];
            int n = 0, dy, dx;
            for (dy = -1; dy <= 1; dy++)
                for (dx = -1; dx <= 1; dx++)
                    window[n++] = PIXEL(y + dy, x + dx);
            int32_t middle;
            middle = median_of(window, 9);
            dst[y * W + x] = middle;
        }
}
