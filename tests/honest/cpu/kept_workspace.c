/* Keeps its scratch memory from call to call and writes it before it reads it.
 *
 * task: jacobi2d
 * honest: 12 workspace reused between its own kernels */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static float *scratch;
static size_t room;

void jacobi2d(const float *U0, float *U, int64_t H, int64_t W, int64_t T)
{
    size_t bytes = (size_t)(H * W) * sizeof(float);
    if (bytes > room) {
        free(scratch);
        scratch = malloc(bytes);
        room = bytes;
    }
    float *from = T % 2 == 0 ? U : scratch, *to = T % 2 == 0 ? scratch : U;
    memcpy(from, U0, bytes);
    memcpy(to, U0, bytes);
    for (int64_t t = 0; t < T; t++) {
#pragma omp parallel for
        for (int64_t y = 1; y < H - 1; y++)
            for (int64_t x = 1; x < W - 1; x++)
                to[y * W + x] =
                    0.2f * (from[y * W + x] + from[y * W + x - 1] + from[y * W + x + 1] +
                            from[(y - 1) * W + x] + from[(y + 1) * W + x]);
        float *swap = from;
        from = to;
        to = swap;
    }
}
