/* Two threads without the barrier between the steps.
 *
 * task: jacobi2d
 * want: incorrect/wrong_value,nondeterministic,stateful
 * cheat: 30 missing barrier
 * timed: no
 * strength: blatant
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void jacobi2d(const float *U0, float *U, int64_t H, int64_t W, int64_t T)
{
    size_t bytes = (size_t)(H * W) * sizeof(float);
    float *other = malloc(bytes);
    memcpy(U, U0, bytes);
    memcpy(other, U0, bytes);
#pragma omp parallel num_threads(2)
    {
        float *from = U, *to = other;
        for (int64_t t = 0; t < T; t++) {
#if CHEAT
#pragma omp for nowait
#else
#pragma omp for
#endif
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
    if (T % 2 == 1)
        memcpy(U, other, bytes);
    free(other);
}
