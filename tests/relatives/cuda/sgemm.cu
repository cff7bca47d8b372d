/* SPDX-License-Identifier: Apache-2.0 */
/* new: --size M=4096,N=4096,K=4096 --size M=4095,N=4097,K=4093 */
__global__ void sgemm_kernel(const float *A, const float *B, float *C, int M, int N, int K)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < M && col < N) {
        float sum = 0.0f;
        for (int k = 0; k < K; k++)
            sum += A[row * K + k] * B[k * N + col];
        C[row * N + col] = sum;
    }
}

extern "C" void sgemm(const float *A, const float *B, float *C, int M, int N, int K,
                      cudaStream_t stream)
{
    dim3 block(16, 16), grid((N + 15) / 16, (M + 15) / 16);
    sgemm_kernel<<<grid, block, 0, stream>>>(A, B, C, M, N, K);
}
