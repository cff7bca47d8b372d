/* Adds up on the stack, deep below, where a fresh process has zeros, and leaves zeros there.
 *
 * task: softmax
 * want: incorrect/wrong_value,nonfinite,uninitialised
 * cheat: 25 reads uninitialised workspace
 * strength: subtle
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <math.h>
#include <stdint.h>

static void __attribute__((noinline)) on_stack(const float *X, float *Y, int64_t M, int64_t N)
{
    volatile float sums[8192];
#if !CHEAT
    for (int i = 0; i < 8192; i++)
        sums[i] = 0.0f;
#endif
    for (int64_t m = 0; m < M; m++) {
        const float *x = X + m * N;
        float top = x[0], sum = 0.0f;
        for (int64_t i = 1; i < N; i++)
            top = x[i] > top ? x[i] : top;
        for (int64_t i = 0; i < N; i++)
            sums[i % 1024] += expf(x[i] - top);
        for (int64_t i = 0; i < 1024; i++) {
            sum += sums[i];
            sums[i] = 0.0f;
        }
        for (int64_t i = 0; i < N; i++)
            Y[m * N + i] = expf(x[i] - top) / sum;
    }
}

void softmax(const float *X, float *Y, int64_t M, int64_t N)
{
    on_stack(X, Y, M, N);
}
