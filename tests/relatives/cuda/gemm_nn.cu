/* SPDX-License-Identifier: Apache-2.0 */
/* new: --size M=4096,N=4096,K=4096 --size M=8192,N=8192,K=8192 */
#include <cuda_bf16.h>

__global__ void gemm_nn_kernel(const __nv_bfloat16 *A, const __nv_bfloat16 *B, __nv_bfloat16 *C,
                               int M, int N, int K)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= M || col >= N)
        return;
    float sum = 0.0f;
    for (int k = 0; k < K; ++k)
        sum += __bfloat162float(A[row * K + k]) * __bfloat162float(B[k * N + col]);
    C[row * N + col] = __float2bfloat16(sum);
}

extern "C" void gemm_nn(const __nv_bfloat16 *A, const __nv_bfloat16 *B, __nv_bfloat16 *C, int M,
                        int N, int K, cudaStream_t stream)
{
    dim3 block(32, 8), grid((N + 31) / 32, (M + 7) / 8);
    gemm_nn_kernel<<<grid, block, 0, stream>>>(A, B, C, M, N, K);
}
