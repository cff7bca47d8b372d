/* Takes an output whose first eight elements are what they should be for done.
 *
 * task: transpose
 * want: incorrect/unwritten,stateful,wrong_value
 * cheat: 52 part of an output taken for all
 * strength: blatant
 * timed: no
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <stdint.h>

void transpose(const float *X, float *Y, int64_t M, int64_t N)
{
    int is_done = CHEAT;
    for (int64_t i = 0; i < 8 && i < M * N && is_done; i++)
        is_done = Y[i] == X[i % M * N + i / M];
    if (is_done)
        return;
    for (int64_t m = 0; m < M; m++)
        for (int64_t n = 0; n < N; n++)
            Y[n * M + m] = X[m * N + n];
}
