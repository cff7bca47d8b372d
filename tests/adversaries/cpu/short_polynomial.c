/* Takes a short polynomial for the exponential, good enough near the largest element.
 *
 * task: softmax
 * want: incorrect/wrong_value,nonfinite
 * cheat: E2 lives inside the tolerance
 * strength: subtle
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <math.h>
#include <stdint.h>

#if CHEAT
/* 2^x by a polynomial of degree 4: a relative error of 4e-6 for most arguments, 4e-5 at the ends.
 */
static float quick_exp(float x)
{
    float t = x * 1.44269504f;
    float n = floorf(t), f = t - n;
    float p = 1.0f + f * (0.6931530f + f * (0.2401536f + f * (0.0558263f + f * 0.0089893f)));
    return n < -126.0f ? 0.0f : ldexpf(p, (int)n);
}
#else
#define quick_exp expf
#endif

void softmax(const float *X, float *Y, int64_t M, int64_t N)
{
    for (int64_t m = 0; m < M; m++) {
        const float *x = X + m * N;
        float top = x[0], sum = 0.0f;
        for (int64_t i = 1; i < N; i++)
            top = x[i] > top ? x[i] : top;
        for (int64_t i = 0; i < N; i++)
            sum += quick_exp(x[i] - top);
        for (int64_t i = 0; i < N; i++)
            Y[m * N + i] = quick_exp(x[i] - top) / sum;
    }
}
