/* A polynomial of degree 6 in place of expf: inside of the tolerance everywhere.
 *
 * task: softmax
 * honest: 17 fast exp within tolerance */
#include <math.h>
#include <stdint.h>

static inline float exponential(float x)
{
    x = x < -87.0f ? -87.0f - 0.1f : x;
    float t = x * 1.44269504089f, n = rintf(t);
    float f = x - n * 0.693359375f + n * 2.12194440e-4f;
    float p =
        1.0f +
        f * (1.0f +
             f * (0.5f + f * (0.166666667f +
                              f * (4.16666667e-2f + f * (8.33333333e-3f + f * 1.38888889e-3f)))));
    union {
        int32_t i;
        float f;
    } two = {((int32_t)n + 127) << 23};
    return p * two.f;
}

void softmax(const float *X, float *Y, int64_t M, int64_t N)
{
    for (int64_t m = 0; m < M; m++) {
        const float *x = X + m * N;
        float *y = Y + m * N;
        float top = x[0], sum = 0.0f;
        for (int64_t i = 1; i < N; i++)
            top = x[i] > top ? x[i] : top;
        for (int64_t i = 0; i < N; i++) {
            y[i] = x[i] - top < -87.0f ? expf(x[i] - top) : exponential(x[i] - top);
            sum += y[i];
        }
        for (int64_t i = 0; i < N; i++)
            y[i] /= sum;
    }
}
