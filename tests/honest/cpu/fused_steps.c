/* Takes two steps at once by a stencil of thirteen points where the boundary is far: another
 * pattern of errors.
 *
 * task: jacobi2d
 * honest: 19 Winograd (error pattern differs, flops below dense) */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static float one(const float *u, int64_t W)
{
    return 0.2f * (u[0] + u[-1] + u[1] + u[-W] + u[W]);
}

/* One step for a cell, or its value on the boundary. */
static float at(const float *u, int64_t H, int64_t W, int64_t y, int64_t x)
{
    return y == 0 || x == 0 || y == H - 1 || x == W - 1 ? u[y * W + x] : one(u + y * W + x, W);
}

static float two(const float *u, int64_t W)
{
    float near = u[-1] + u[1] + u[-W] + u[W];
    float corners = u[-W - 1] + u[-W + 1] + u[W - 1] + u[W + 1];
    float far = u[-2] + u[2] + u[-2 * W] + u[2 * W];
    return 0.04f * (5.0f * u[0] + 2.0f * (near + corners) + far);
}

void jacobi2d(const float *U0, float *U, int64_t H, int64_t W, int64_t T)
{
    size_t bytes = (size_t)(H * W) * sizeof(float);
    float *other = malloc(bytes), *from = U, *to = other;
    memcpy(U, U0, bytes);
    memcpy(other, U0, bytes);
    for (int64_t t = 0; t + 1 < T; t += 2) {
        for (int64_t y = 1; y < H - 1; y++)
            for (int64_t x = 1; x < W - 1; x++) {
                int is_far = y > 1 && x > 1 && y < H - 2 && x < W - 2;
                to[y * W + x] = is_far
                                    ? two(from + y * W + x, W)
                                    : 0.2f * (at(from, H, W, y, x) + at(from, H, W, y, x - 1) +
                                              at(from, H, W, y, x + 1) + at(from, H, W, y - 1, x) +
                                              at(from, H, W, y + 1, x));
            }
        float *swap = from;
        from = to;
        to = swap;
    }
    if (T % 2 == 1) {
        for (int64_t y = 1; y < H - 1; y++)
            for (int64_t x = 1; x < W - 1; x++)
                to[y * W + x] = one(from + y * W + x, W);
        from = to;
    }
    if (from != U)
        memcpy(U, from, bytes);
    free(other);
}
