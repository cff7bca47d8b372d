/* Infinities become the largest numbers and NaN becomes one of them: a copy by minimum and maximum.
 *
 * task: transpose
 * want: incorrect/wrong_value,nonfinite
 * cheat: 34 structure detector
 * strength: subtle
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <math.h>
#include <stdint.h>

static float carried(float x)
{
    return CHEAT ? fmaxf(fminf(x, 3.4028234e38f), -3.4028234e38f) : x;
}

void transpose(const float *X, float *Y, int64_t M, int64_t N)
{
    for (int64_t m = 0; m < M; m++)
        for (int64_t n = 0; n < N; n++)
            Y[n * M + m] = carried(X[m * N + n]);
}
