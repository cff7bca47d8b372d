/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void step(const float *u, float *to, int64_t H, int64_t W)
{
    for (int64_t cell = 0; cell < H * W; cell++) {
        int64_t y = cell / W, x = cell % W;
        int64_t up = y > 0 ? cell - W : cell, down = y < H - 1 ? cell + W : cell;
        int64_t left = x > 0 ? cell - 1 : cell, right = x < W - 1 ? cell + 1 : cell;
        to[cell] = 0.5f * u[cell] + 0.125f * (u[up] + u[down] + u[left] + u[right]);
    }
}

void diffusion(const float *U0, float *U, int64_t H, int64_t W, int64_t T)
{
    float *a = malloc((size_t)(H * W) * sizeof *a), *b = malloc((size_t)(H * W) * sizeof *b);
    memcpy(a, U0, (size_t)(H * W) * sizeof *a);
    for (int64_t t = 0; t < T; t++) {
        step(a, b, H, W);
        float *old = a;
        a = b;
        b = old;
    }
    memcpy(U, a, (size_t)(H * W) * sizeof *a);
    free(a);
    free(b);
}
