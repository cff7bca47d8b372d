#include <stdint.h>

__global__ void rows(const float *X, int32_t *I, int64_t M, int64_t N)
{
    int64_t m = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (m >= M)
        return;
    int32_t best = 0;
    for (int32_t i = 1; i < N; i++)
        if (X[m * N + i] > X[m * N + best])
            best = i;
    I[m] = best;
}

extern "C" void argmax(const float *X, int32_t *I, int64_t M, int64_t N, cudaStream_t stream)
{
    rows<<<(unsigned)((M + 31) / 32), 32, 0, stream>>>(X, I, M, N);
}
