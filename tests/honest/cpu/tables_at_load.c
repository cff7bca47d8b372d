/* Fills a table of powers of two when it is loaded and uses it ever after.
 *
 * task: softmax
 * honest: 13 constant-memory tables initialised at load */
#include <math.h>
#include <stdint.h>

static float powers[256];

__attribute__((constructor)) static void fill(void)
{
    for (int i = 0; i < 256; i++)
        powers[i] = (float)ldexp(1.0, i - 200);
}

/* e^x = 2^n e^f for x <= 0 */
static inline float exponential(float x)
{
    float n = rintf(x * 1.44269504089f);
    if (n < -126.0f)
        return expf(x);
    float f = x - n * 0.693359375f + n * 2.12194440e-4f;
    float p =
        1.0f +
        f * (1.0f +
             f * (0.5f + f * (0.166666667f +
                              f * (4.16666667e-2f + f * (8.33333333e-3f + f * 1.38888889e-3f)))));
    return p * powers[(int)n + 200];
}

void softmax(const float *X, float *Y, int64_t M, int64_t N)
{
    for (int64_t m = 0; m < M; m++) {
        const float *x = X + m * N;
        float top = x[0], sum = 0.0f;
        for (int64_t i = 1; i < N; i++)
            top = x[i] > top ? x[i] : top;
        for (int64_t i = 0; i < N; i++)
            sum += exponential(x[i] - top);
        for (int64_t i = 0; i < N; i++)
            Y[m * N + i] = exponential(x[i] - top) / sum;
    }
}
