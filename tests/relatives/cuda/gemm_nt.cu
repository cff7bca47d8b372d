/* SPDX-License-Identifier: Apache-2.0 */
/* new: --size M=4096,N=4096,K=4096 --size M=8192,N=8192,K=8192 */
#include <cuda_bf16.h>

/* C = A * B^T, a thread an element */
__global__ void gemm_nt_kernel(const __nv_bfloat16 *A, const __nv_bfloat16 *B, __nv_bfloat16 *C,
                               int M, int N, int K)
{
    int n = blockIdx.x * blockDim.x + threadIdx.x;
    int m = blockIdx.y * blockDim.y + threadIdx.y;
    if (m < M && n < N) {
        float acc = 0.0f;
        for (int k = 0; k < K; k++)
            acc += __bfloat162float(A[(size_t)m * K + k]) * __bfloat162float(B[(size_t)n * K + k]);
        C[(size_t)m * N + n] = __float2bfloat16(acc);
    }
}

extern "C" void gemm_nt(const __nv_bfloat16 *A, const __nv_bfloat16 *B, __nv_bfloat16 *C, int M,
                        int N, int K, cudaStream_t stream)
{
    dim3 block(16, 16), grid((N + 15) / 16, (M + 15) / 16);
    gemm_nt_kernel<<<grid, block, 0, stream>>>(A, B, C, M, N, K);
}
