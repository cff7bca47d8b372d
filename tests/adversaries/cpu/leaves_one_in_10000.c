/* Writes all elements but one in ten thousand.
 *
 * task: transpose
 * want: incorrect/unwritten
 * cheat: 7 writes every element but 1 in 10 000
 * strength: blatant
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <stdint.h>

void transpose(const float *X, float *Y, int64_t M, int64_t N)
{
    for (int64_t m = 0; m < M; m++)
        for (int64_t n = 0; n < N; n++)
            if (!CHEAT || (n * M + m) % 10000 != 9999)
                Y[n * M + m] = X[m * N + n];
}
