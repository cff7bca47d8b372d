#include <stdint.h>
#include <string.h>

#define CHAINS 12 /* two pipes, latency 4 to 5, and some more */
#define LANES  8

typedef float lanes __attribute__((vector_size(4 * LANES)));

static float one(float x, int64_t K)
{
    for (int64_t k = 0; k < K; k++)
        x = x * 0.75f + 0.5f;
    return x;
}

void fma(const float *X, float *Y, int64_t N, int64_t K)
{
    int64_t i = 0;
    for (; i + CHAINS * LANES <= N; i += CHAINS * LANES) {
        lanes x[CHAINS];
        memcpy(x, X + i, sizeof x);
        for (int64_t k = 0; k < K; k++)
#pragma GCC unroll 12
            for (int c = 0; c < CHAINS; c++)
                x[c] = x[c] * 0.75f + 0.5f;
        memcpy(Y + i, x, sizeof x);
    }
    for (; i < N; i++)
        Y[i] = one(X[i], K);
}
