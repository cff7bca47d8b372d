/* Tiles of A that hold nothing but zeros are left out of the product.
 *
 * task: matmul
 * honest: 41 data-dependent work (skips zeros) */
#include <stdint.h>

__global__ void tiles(const float *A, const float *B, float *C, int64_t M, int64_t N, int64_t K)
{
    __shared__ float a[16][16], b[16][17];
    int64_t i = (int64_t)blockIdx.y * 16 + threadIdx.y, j = (int64_t)blockIdx.x * 16 + threadIdx.x;
    float sum = 0;
    for (int64_t k = 0; k < K; k += 16) {
        float mine = i < M && k + threadIdx.x < K ? A[i * K + k + threadIdx.x] : 0;
        a[threadIdx.y][threadIdx.x] = mine;
        b[threadIdx.y][threadIdx.x] =
            j < N && k + threadIdx.y < K ? B[(k + threadIdx.y) * N + j] : 0;
        if (__syncthreads_or(mine != 0))
            for (int l = 0; l < 16; l++)
                sum += a[threadIdx.y][l] * b[l][threadIdx.x];
        __syncthreads();
    }
    if (i < M && j < N)
        C[i * N + j] = sum;
}

extern "C" void matmul(const float *A, const float *B, float *C, int64_t M, int64_t N, int64_t K,
                       cudaStream_t stream)
{
    dim3 grid((unsigned)((N + 15) / 16), (unsigned)((M + 15) / 16)), block(16, 16);
    tiles<<<grid, block, 0, stream>>>(A, B, C, M, N, K);
}
