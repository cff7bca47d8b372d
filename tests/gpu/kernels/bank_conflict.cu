/* A tiled transpose without padding: a column of the tile lies in one bank. */
#include <stdint.h>

__global__ void transpose_tile(const float *X, float *Y, int64_t M, int64_t N)
{
    __shared__ float tile[32][32];
    int64_t n = (int64_t)blockIdx.x * 32 + threadIdx.x;
    int64_t m = (int64_t)blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        if (m + j < M && n < N)
            tile[threadIdx.y + j][threadIdx.x] = X[(m + j) * N + n];
    __syncthreads();
    n = (int64_t)blockIdx.y * 32 + threadIdx.x;
    m = (int64_t)blockIdx.x * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8) {
        float value = tile[threadIdx.x][threadIdx.y + j]; /* HERE */
        if (m + j < N && n < M)
            Y[(m + j) * M + n] = value;
    }
}

extern "C" void transpose(const float *X, float *Y, int64_t M, int64_t N, cudaStream_t stream)
{
    dim3 block(32, 8);
    dim3 grid((unsigned)((N + 31) / 32), (unsigned)((M + 31) / 32));
    transpose_tile<<<grid, block, 0, stream>>>(X, Y, M, N);
}
