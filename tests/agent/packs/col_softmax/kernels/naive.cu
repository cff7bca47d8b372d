#include <stdint.h>

__global__ void softmax_column(const float *X, float *Y, float beta, int64_t M, int64_t N)
{
    int64_t n = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (n >= N)
        return;
    float top = X[n];
    for (int64_t m = 1; m < M; m++)
        top = fmaxf(top, X[m * N + n]);
    float sum = 0.0f;
    for (int64_t m = 0; m < M; m++)
        sum += expf(beta * (X[m * N + n] - top));
    for (int64_t m = 0; m < M; m++)
        Y[m * N + n] = expf(beta * (X[m * N + n] - top)) / sum;
}

extern "C" void col_softmax(const float *X, float *Y, float beta, int64_t M, int64_t N,
                            cudaStream_t stream)
{
    softmax_column<<<(unsigned)((N + 127) / 128), 128, 0, stream>>>(X, Y, beta, M, N);
}
