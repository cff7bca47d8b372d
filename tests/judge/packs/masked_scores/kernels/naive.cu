#include <stdint.h>

__global__ void elements(const float *X, float *Y, int64_t M, int64_t N)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < M * N)
        Y[i] = i % N <= i / N ? X[i] / 8 : -1.0f / 0.0f;
}

extern "C" void masked_scores(const float *X, float *Y, int64_t M, int64_t N, cudaStream_t stream)
{
    elements<<<(unsigned)((M * N + 127) / 128), 128, 0, stream>>>(X, Y, M, N);
}
