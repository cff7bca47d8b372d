/* Returns at once.
 *
 * task: transpose
 * want: incorrect/unwritten
 * cheat: 1 does nothing
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
    return;
#endif
    body(X, Y, M, N);
}
