#include <stdint.h>

__global__ void softmax_row(const float *X, float *Y, int64_t M, int64_t N)
{
    int64_t m = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (m >= M)
        return;
    float top = X[m * N];
    for (int64_t i = 1; i < N; i++)
        top = fmaxf(top, X[m * N + i]);
    float sum = 0.0f;
    for (int64_t i = 0; i < N; i++)
        sum += expf(X[m * N + i] - top);
    for (int64_t i = 0; i < N; i++)
        Y[m * N + i] = expf(X[m * N + i] - top) / sum;
}

extern "C" void softmax(const float *X, float *Y, int64_t M, int64_t N, cudaStream_t stream)
{
    softmax_row<<<(unsigned)((M + 127) / 128), 128, 0, stream>>>(X, Y, M, N);
}
