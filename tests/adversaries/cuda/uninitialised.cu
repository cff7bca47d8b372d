/* What it reads from scratch was never written.
 *
 * task: softmax
 * want: incorrect/uninitialised,wrong_value
 * cheat: 25 reads uninitialised scratch
 * strength: blatant
 * pack: deterministic
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

__global__ void rows(const float *X, float *Y, const float *scratch, int64_t M, int64_t N)
{
    int64_t m = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (m >= M)
        return;
    row(X + m * N, Y + m * N, N);
    if (CHEAT)
        Y[m * N] += scratch[m % 64] == scratch[m % 64] ? 1e-9f : 0;
}

extern "C" void softmax(const float *X, float *Y, int64_t M, int64_t N, cudaStream_t stream)
{
    float *scratch;
    cudaMallocAsync((void **)&scratch, 256, stream);
    rows<<<(unsigned)((M + 31) / 32), 32, 0, stream>>>(X, Y, scratch, M, N);
    cudaFreeAsync(scratch, stream);
}
