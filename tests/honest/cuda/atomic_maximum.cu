/* The largest of each row by an atomic on ordered integers, then sums, then the quotients.
 *
 * task: softmax
 * honest: 67 integer atomics on ordered bits */
#include <stdint.h>

__device__ int key_of(float x)
{
    int bits = __float_as_int(x + 0.0f);
    return bits >= 0 ? bits : (int)(0x80000000u - (unsigned)bits);
}
__device__ float value_of(int key)
{
    return __int_as_float(key >= 0 ? key : (int)(0x80000000u - (unsigned)key));
}

__global__ void start(int *tops, int64_t M)
{
    int64_t m = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (m < M)
        tops[m] = -2147483647;
}
__global__ void largest(const float *X, int *tops, int64_t M, int64_t N)
{
    int64_t at = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (at < M * N)
        atomicMax(&tops[at / N], key_of(X[at]));
}
__global__ void rows(const float *X, const int *tops, float *Y, int64_t M, int64_t N)
{
    int64_t m = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (m >= M)
        return;
    float sum = 0, top = value_of(tops[m]);
    for (int64_t i = 0; i < N; i++)
        sum += expf(X[m * N + i] - top);
    for (int64_t i = 0; i < N; i++)
        Y[m * N + i] = expf(X[m * N + i] - top) / sum;
}

extern "C" void softmax(const float *X, float *Y, int64_t M, int64_t N, cudaStream_t stream)
{
    int *tops;
    cudaMallocAsync((void **)&tops, (size_t)M * sizeof(int), stream);
    start<<<(unsigned)((M + 127) / 128), 128, 0, stream>>>(tops, M);
    largest<<<(unsigned)((M * N + 127) / 128), 128, 0, stream>>>(X, tops, M, N);
    rows<<<(unsigned)((M + 127) / 128), 128, 0, stream>>>(X, tops, Y, M, N);
    cudaFreeAsync(tops, stream);
}
