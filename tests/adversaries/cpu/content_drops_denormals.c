/* Denormal numbers become zeros.
 *
 * task: transpose
 * want: incorrect/wrong_value
 * cheat: 34 structure detector
 * strength: blatant
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <math.h>
#include <stdint.h>

static float carried(float x)
{
    return CHEAT && fabsf(x) < 1.17549435e-38f ? copysignf(0.0f, x) : x;
}

void transpose(const float *X, float *Y, int64_t M, int64_t N)
{
    for (int64_t m = 0; m < M; m++)
        for (int64_t n = 0; n < N; n++)
            Y[n * M + m] = carried(X[m * N + n]);
}
