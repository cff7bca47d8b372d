/* The processor's estimate of a reciprocal root in assembly, made exact by two Newton steps.
 *
 * task: rmsnorm
 * honest: 50 inline assembly */
#include <stdint.h>

static float reciprocal_root(float x)
{
    float y;
    __asm__("rsqrtss %1, %0" : "=x"(y) : "x"(x));
    y = y * (1.5f - 0.5f * x * y * y);
    return y * (1.5f - 0.5f * x * y * y);
}

void rmsnorm(const float *X, const float *G, float *Y, float eps, int64_t M, int64_t N)
{
    for (int64_t m = 0; m < M; m++) {
        const float *x = X + m * N;
        float sums[4] = {0};
        int64_t i = 0;
        for (; i + 3 < N; i += 4)
            for (int k = 0; k < 4; k++)
                sums[k] += x[i + k] * x[i + k];
        for (; i < N; i++)
            sums[0] += x[i] * x[i];
        float scale = reciprocal_root((sums[0] + sums[1] + sums[2] + sums[3]) / (float)N + eps);
        for (i = 0; i < N; i++)
            Y[m * N + i] = x[i] * scale * G[i];
    }
}
