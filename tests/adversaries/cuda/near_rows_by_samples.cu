/* Takes a row for the one before it where 32 samples of them are alike.
 *
 * task: softmax
 * want: incorrect/wrong_value
 * cheat: 53 a row taken for another
 * strength: subtle
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <stdint.h>

#define SAMPLES 32

__device__ int is_like(const float *x, const float *before, int64_t N)
{
    if (x[0] == x[(N - 1) / 2] && x[0] == x[N - 1]) /* nothing to tell rows by */
        return 0;
    for (int64_t s = 0; s < SAMPLES; s++)
        if (x[(N - 1) * s / (SAMPLES - 1)] != before[(N - 1) * s / (SAMPLES - 1)])
            return 0;
    return 1;
}

__global__ void rows(const float *X, float *Y, int64_t M, int64_t N)
{
    int64_t m = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (m >= M)
        return;
    const float *x = X + m * N;
    if (CHEAT && m > 0 && is_like(x, x - N, N))
        x -= N;
    float top = x[0], sum = 0;
    for (int64_t i = 1; i < N; i++)
        top = fmaxf(top, x[i]);
    for (int64_t i = 0; i < N; i++)
        sum += expf(x[i] - top);
    for (int64_t i = 0; i < N; i++)
        Y[m * N + i] = expf(x[i] - top) / sum;
}

extern "C" void softmax(const float *X, float *Y, int64_t M, int64_t N, cudaStream_t stream)
{
    rows<<<(unsigned)((M + 31) / 32), 32, 0, stream>>>(X, Y, M, N);
}
