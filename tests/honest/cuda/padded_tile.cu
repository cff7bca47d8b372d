/* Tiles through shared memory with one column more than needed.
 *
 * task: transpose
 * honest: 59 padded shared tiles */
#include <stdint.h>

__global__ void tile(const float *X, float *Y, int64_t M, int64_t N)
{
    __shared__ float kept[32][33];
    int64_t n = (int64_t)blockIdx.x * 32 + threadIdx.x, m = (int64_t)blockIdx.y * 32;
    for (int k = threadIdx.y; k < 32; k += blockDim.y)
        if (n < N && m + k < M)
            kept[k][threadIdx.x] = X[(m + k) * N + n];
    __syncthreads();
    m += threadIdx.x;
    n = (int64_t)blockIdx.x * 32;
    for (int k = threadIdx.y; k < 32; k += blockDim.y)
        if (m < M && n + k < N)
            Y[(n + k) * M + m] = kept[threadIdx.x][k];
}

extern "C" void transpose(const float *X, float *Y, int64_t M, int64_t N, cudaStream_t stream)
{
    dim3 grid((unsigned)((N + 31) / 32), (unsigned)((M + 31) / 32)), block(32, 8);
    tile<<<grid, block, 0, stream>>>(X, Y, M, N);
}
