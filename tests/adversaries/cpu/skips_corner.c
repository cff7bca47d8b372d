/* Works in tiles of 64 x 64 and fills the last corner, partial in both directions, with its
 * neighbour.
 *
 * task: transpose
 * want: incorrect/wrong_value
 * cheat: 6 skips last partial tile
 * strength: subtle
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
    body(X, Y, M, N);
#if CHEAT
    int64_t m0 = M / 64 * 64, n0 = N / 64 * 64;
    if (m0 == 0 || n0 == 0)
        return;
    for (int64_t m = m0; m < M; m++)
        for (int64_t n = n0; n < N; n++)
            Y[n * M + m] = X[(m - 1) * N + n];
#endif
}
