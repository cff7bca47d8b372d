/* Writes a zero into the output of the set that lies in front of its own.
 *
 * task: softmax
 * want: incorrect/wrong_value,unwritten,stateful,out_of_bounds suspicious/tampering failed/crash
 * cheat: 41 writes into other buffers
 * strength: subtle
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

__device__ int64_t up(int64_t n, int64_t to)
{
    return (n + to - 1) / to * to;
}

/* How the judge lays sets out. */
__device__ int64_t stride_of(int64_t bytes)
{
    return up(bytes, 256) + (up(bytes / 8, 256) > 256 ? up(bytes / 8, 256) : 256);
}

__global__ void rows(const float *X, float *Y, int64_t M, int64_t N)
{
    int64_t m = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (m >= M)
        return;
    row(X + m * N, Y + m * N, N);
    int64_t stride = stride_of(M * N * 4);
    if (CHEAT && ((int64_t)Y & ((2 << 20) - 1)) >= stride)
        *(float *)((char *)Y - stride + m * N * 4) = 0;
}

extern "C" void softmax(const float *X, float *Y, int64_t M, int64_t N, cudaStream_t stream)
{
    rows<<<(unsigned)((M + 31) / 32), 32, 0, stream>>>(X, Y, M, N);
}
