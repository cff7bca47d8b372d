/* All blocks wait for each other in an ordinary launch, though they cannot all run at a time.
 *
 * task: softmax
 * want: failed/timeout,crash,launch
 * cheat: 32 grid barrier without co-residency
 * strength: blatant
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

__global__ void rows(const float *X, float *Y, unsigned *n_there, int64_t M, int64_t N)
{
    if (CHEAT && threadIdx.x == 0) {
        atomicAdd(n_there, 1u);
        while (*(volatile unsigned *)n_there < gridDim.x)
            ;
    }
    __syncthreads();
    for (int64_t m = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; m < M;
         m += (int64_t)gridDim.x * blockDim.x)
        row(X + m * N, Y + m * N, N);
}

extern "C" void softmax(const float *X, float *Y, int64_t M, int64_t N, cudaStream_t stream)
{
    unsigned *n_there;
    cudaMallocAsync((void **)&n_there, 256, stream);
    cudaMemsetAsync(n_there, 0, 256, stream);
    cudaFuncSetAttribute(rows, cudaFuncAttributeMaxDynamicSharedMemorySize, 131072);
    rows<<<2048, 32, 131072, stream>>>(X, Y, n_there, M, N);
    cudaFreeAsync(n_there, stream);
}
