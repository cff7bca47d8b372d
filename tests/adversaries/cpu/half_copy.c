/* Moves the numbers through float16.
 *
 * task: transpose
 * want: incorrect/wrong_value,nonfinite
 * cheat: 11 bf16 inputs rounding in fp32 task
 * strength: blatant
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <stdint.h>

void transpose(const float *X, float *Y, int64_t M, int64_t N)
{
    for (int64_t m = 0; m < M; m++)
        for (int64_t n = 0; n < N; n++)
            Y[n * M + m] = CHEAT ? (float)(_Float16)X[m * N + n] : X[m * N + n];
}
