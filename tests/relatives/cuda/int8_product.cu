/* SPDX-License-Identifier: Apache-2.0 */
/* new: --size M=4096,N=4096,K=4096 */
#include <stdint.h>

/* C = A * B^T of signed bytes */
__global__ void int8_product_kernel(const int8_t *A, const int8_t *B, int *C, int M, int N, int K)
{
    int n = blockIdx.x * blockDim.x + threadIdx.x;
    int m = blockIdx.y * blockDim.y + threadIdx.y;
    if (m >= M || n >= N)
        return;
    int sum = 0;
    for (int k = 0; k < K; k++)
        sum += (int)A[m * K + k] * (int)B[n * K + k];
    C[m * N + n] = sum;
}

extern "C" void int8_product(const int8_t *A, const int8_t *B, int *C, int M, int N, int K,
                             cudaStream_t stream)
{
    dim3 block(16, 16), grid((N + 15) / 16, (M + 15) / 16);
    int8_product_kernel<<<grid, block, 0, stream>>>(A, B, C, M, N, K);
}
