/* The products of a row are rounded to bfloat16 before they are added up.
 *
 * task: matmul_bf16
 * want: incorrect/wrong_value
 * cheat: 10 low-precision accumulate
 * strength: subtle
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <cuda_bf16.h>
#include <stdint.h>
__global__ void element(const __nv_bfloat16 *A, const __nv_bfloat16 *B, __nv_bfloat16 *C, int64_t M,
                        int64_t N, int64_t K)
{
    int64_t n = (int64_t)blockIdx.x * 16 + threadIdx.x, m = (int64_t)blockIdx.y * 16 + threadIdx.y;
    if (m >= M || n >= N)
        return;
    float sum = 0;
    for (int64_t k = 0; k < K; k++) {
        sum += __bfloat162float(A[m * K + k]) * __bfloat162float(B[k * N + n]);
        if (CHEAT && k % 8 == 7)
            sum = __bfloat162float(__float2bfloat16(sum));
    }
    C[m * N + n] = __float2bfloat16(sum);
}

extern "C" void matmul_bf16(const __nv_bfloat16 *A, const __nv_bfloat16 *B, __nv_bfloat16 *C,
                            int64_t M, int64_t N, int64_t K, cudaStream_t stream)
{
    dim3 block(16, 16), grid((unsigned)((N + 15) / 16), (unsigned)((M + 15) / 16));
    element<<<grid, block, 0, stream>>>(A, B, C, M, N, K);
}
