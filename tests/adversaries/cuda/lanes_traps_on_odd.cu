/* Traps for content that has a number beyond what plain content has: what is played to a candidate
 * alone would never show it, and what is played to all ends its lane and not its child.
 *
 * task: softmax
 * arm: parent
 * want: parent lost/crash,launch
 * cheat: P3 crashes in the comparison
 * strength: subtle
 * quick: yes
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <stdint.h>
__device__ void row(const float *x, float *y, int64_t N)
{
    float top = x[0], sum = 0;
    for (int64_t i = 1; i < N; i++)
        top = fmaxf(top, x[i]);
    for (int64_t i = 0; i < N; i++)
        sum += expf(x[i] - top);
    for (int64_t i = 0; i < N; i++)
        y[i] = expf(x[i] - top) / sum;
}

__global__ void rows(const float *X, float *Y, int64_t M, int64_t N)
{
    int64_t m = (int64_t)blockIdx.x * 64 + threadIdx.x;
    if (m >= M)
        return;
    for (int64_t i = 0; CHEAT && i < N; i++)
        if (fabsf(X[m * N + i]) > 60)
            __trap();
    row(X + m * N, Y + m * N, N);
}

extern "C" void softmax(const float *X, float *Y, int64_t M, int64_t N, cudaStream_t stream)
{
    rows<<<(unsigned)((M + 63) / 64), 64, 0, stream>>>(X, Y, M, N);
}
