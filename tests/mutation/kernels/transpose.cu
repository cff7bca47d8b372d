/* A tile through shared memory; eight rows at a time. */
#include <stdint.h>

#define TILE 32
#define ROWS 8

__global__ void transpose_tile(const float *X, float *Y, int64_t M, int64_t N)
{
    __shared__ float tile[TILE][TILE + 1];
    int64_t n = (int64_t)blockIdx.x * TILE + threadIdx.x;
    int64_t m = (int64_t)blockIdx.y * TILE + threadIdx.y;
    for (int i = 0; i < TILE; i += ROWS)
        if (m + i < M && n < N)
            tile[threadIdx.y + i][threadIdx.x] = X[(m + i) * N + n];
    __syncthreads();
    m = (int64_t)blockIdx.y * TILE + threadIdx.x;
    n = (int64_t)blockIdx.x * TILE + threadIdx.y;
    for (int i = 0; i < TILE; i += ROWS)
        if (n + i < N && m < M)
            Y[(n + i) * M + m] = tile[threadIdx.x][threadIdx.y + i];
}

extern "C" void transpose(const float *X, float *Y, int64_t M, int64_t N, cudaStream_t stream)
{
    dim3 block(TILE, ROWS);
    dim3 grid((unsigned)((N + TILE - 1) / TILE), (unsigned)((M + TILE - 1) / TILE));
    transpose_tile<<<grid, block, 0, stream>>>(X, Y, M, N);
}
