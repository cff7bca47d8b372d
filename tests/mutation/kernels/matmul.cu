/* Tiles of A and B in shared memory, zeros beyond the edges. */
#include <stdint.h>

#define TILE 16

__global__ void matmul_tile(const float *A, const float *B, float *C, int64_t M, int64_t N,
                            int64_t K)
{
    __shared__ float a[TILE][TILE];
    __shared__ float b[TILE][TILE];
    int x = threadIdx.x, y = threadIdx.y;
    int64_t column = (int64_t)blockIdx.x * TILE + x;
    int64_t row = (int64_t)blockIdx.y * TILE + y;
    float sum = 0.0f;
    for (int64_t first = 0; first < K; first += TILE) {
        a[y][x] = row < M && first + x < K ? A[row * K + first + x] : 0.0f;
        b[y][x] = first + y < K && column < N ? B[(first + y) * N + column] : 0.0f;
        __syncthreads();
        for (int k = 0; k < TILE; k++)
            sum += a[y][k] * b[k][x];
        __syncthreads();
    }
    if (row < M && column < N)
        C[row * N + column] = sum;
}

extern "C" void matmul(const float *A, const float *B, float *C, int64_t M, int64_t N, int64_t K,
                       cudaStream_t stream)
{
    dim3 block(TILE, TILE);
    dim3 grid((unsigned)((N + TILE - 1) / TILE), (unsigned)((M + TILE - 1) / TILE));
    matmul_tile<<<grid, block, 0, stream>>>(A, B, C, M, N, K);
}
