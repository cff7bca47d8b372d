/* bfloat16 tiles in shared memory, float32 sums, rounded once.
 *
 * task: matmul_bf16
 * honest: 2 tuned tiled
 */
#include <cuda_bf16.h>
#include <stdint.h>
__global__ void tiles(const __nv_bfloat16 *A, const __nv_bfloat16 *B, __nv_bfloat16 *C, int64_t M,
                      int64_t N, int64_t K)
{
    __shared__ __nv_bfloat16 a[16][16], b[16][16];
    int x = (int)threadIdx.x, y = (int)threadIdx.y;
    int64_t n = (int64_t)blockIdx.x * 16 + x, m = (int64_t)blockIdx.y * 16 + y;
    float sum = 0;
    for (int64_t k = 0; k < K; k += 16) {
        a[y][x] = m < M && k + x < K ? A[m * K + k + x] : __float2bfloat16(0.0f);
        b[y][x] = n < N && k + y < K ? B[(k + y) * N + n] : __float2bfloat16(0.0f);
        __syncthreads();
        for (int i = 0; i < 16; i++)
            sum += __bfloat162float(a[y][i]) * __bfloat162float(b[i][x]);
        __syncthreads();
    }
    if (m < M && n < N)
        C[m * N + n] = __float2bfloat16(sum);
}

extern "C" void matmul_bf16(const __nv_bfloat16 *A, const __nv_bfloat16 *B, __nv_bfloat16 *C,
                            int64_t M, int64_t N, int64_t K, cudaStream_t stream)
{
    dim3 block(16, 16), grid((unsigned)((N + 15) / 16), (unsigned)((M + 15) / 16));
    tiles<<<grid, block, 0, stream>>>(A, B, C, M, N, K);
}
