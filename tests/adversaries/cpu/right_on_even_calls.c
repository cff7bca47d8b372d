/* Is right on even calls.
 *
 * task: jacobi2d
 * want: incorrect/wrong_value
 * cheat: 28 right on even calls
 * strength: blatant
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void body(const float *U0, float *U, int64_t H, int64_t W, int64_t T)
{
    size_t bytes = (size_t)(H * W) * sizeof(float);
    float *scratch = malloc(bytes);
    memcpy(U, U0, bytes);
    memcpy(scratch, U0, bytes);
    for (int64_t t = 0; t < T; t++) {
        for (int64_t y = 1; y < H - 1; y++)
            for (int64_t x = 1; x < W - 1; x++)
                scratch[y * W + x] = 0.2f * (U[y * W + x] + U[y * W + x - 1] + U[y * W + x + 1] +
                                             U[(y - 1) * W + x] + U[(y + 1) * W + x]);
        memcpy(U, scratch, bytes);
    }
    free(scratch);
}
void jacobi2d(const float *U0, float *U, int64_t H, int64_t W, int64_t T)
{
#if CHEAT
    static int n_calls;
    if (++n_calls % 2 == 1)
        T = T / 2;
#endif
    body(U0, U, H, W, T);
}
