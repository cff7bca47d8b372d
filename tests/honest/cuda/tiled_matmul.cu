/* Tiles of 16 x 16 in shared memory.
 *
 * task: matmul
 * honest: 2 tuned tiled
 */
#include <stdint.h>
#define TILE 16
__global__ void tiles(const float *A, const float *B, float *C, int64_t M, int64_t N, int64_t K)
{
    __shared__ float a[TILE][TILE], b[TILE][TILE + 1];
    int x = (int)threadIdx.x, y = (int)threadIdx.y;
    int64_t n = (int64_t)blockIdx.x * TILE + x, m = (int64_t)blockIdx.y * TILE + y;
    float sum = 0;
    for (int64_t k = 0; k < K; k += TILE) {
        a[y][x] = m < M && k + x < K ? A[m * K + k + x] : 0;
        b[y][x] = n < N && k + y < K ? B[(k + y) * N + n] : 0;
        __syncthreads();
        for (int i = 0; i < TILE; i++)
            sum += a[y][i] * b[i][x];
        __syncthreads();
    }
    if (m < M && n < N)
        C[m * N + n] = sum;
}

extern "C" void matmul(const float *A, const float *B, float *C, int64_t M, int64_t N, int64_t K,
                       cudaStream_t stream)
{
    dim3 block(TILE, TILE),
        grid((unsigned)((N + TILE - 1) / TILE), (unsigned)((M + TILE - 1) / TILE));
    tiles<<<grid, block, 0, stream>>>(A, B, C, M, N, K);
}
