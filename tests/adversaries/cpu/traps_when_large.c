/* Gives up on large sizes.
 *
 * task: transpose
 * want: failed/crash
 * sizes: all
 * cheat: 40 trap on large grid
 * strength: blatant
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <stdint.h>

static void body(const float *X, float *Y, int64_t M, int64_t N)
{
    for (int64_t m = 0; m < M; m++)
        for (int64_t n = 0; n < N; n++)
            Y[n * M + m] = X[m * N + n];
}
void transpose(const float *X, float *Y, int64_t M, int64_t N)
{
#if CHEAT
    if (M * N > 10000)
        __builtin_trap();
#endif
    body(X, Y, M, N);
}
