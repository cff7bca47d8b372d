/* The loader picks the build for the processor (an indirect function).
 *
 * task: softmax
 * honest: 43 dispatch by processor at load */
#include <math.h>
#include <stdint.h>

__attribute__((target_clones("avx2", "default"))) static float top_of(const float *x, int64_t n)
{
    float top = x[0];
    for (int64_t i = 1; i < n; i++)
        top = x[i] > top ? x[i] : top;
    return top;
}

void softmax(const float *X, float *Y, int64_t M, int64_t N)
{
    for (int64_t m = 0; m < M; m++) {
        const float *x = X + m * N;
        float *y = Y + m * N, top = top_of(x, N), sum = 0.0f;
        for (int64_t i = 0; i < N; i++)
            sum += y[i] = expf(x[i] - top);
        for (int64_t i = 0; i < N; i++)
            y[i] /= sum;
    }
}
