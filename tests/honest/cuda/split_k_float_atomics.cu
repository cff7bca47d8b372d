/* Parts of the summed dimension meet in atomics; the output is cleared first.
 *
 * task: matmul
 * honest: 3 split-K with fp32 atomics
 */
#include <stdint.h>
__global__ void parts(const float *A, const float *B, float *C, int64_t M, int64_t N, int64_t K)
{
    int64_t n = (int64_t)blockIdx.x * 16 + threadIdx.x, m = (int64_t)blockIdx.y * 16 + threadIdx.y;
    if (m >= M || n >= N)
        return;
    float sum = 0;
    for (int64_t k = blockIdx.z; k < K; k += gridDim.z)
        sum += A[m * K + k] * B[k * N + n];
    atomicAdd(&C[m * N + n], sum);
}

extern "C" void matmul(const float *A, const float *B, float *C, int64_t M, int64_t N, int64_t K,
                       cudaStream_t stream)
{
    dim3 block(16, 16), grid((unsigned)((N + 15) / 16), (unsigned)((M + 15) / 16), 4);
    cudaMemsetAsync(C, 0, (size_t)(M * N) * sizeof(float), stream);
    parts<<<grid, block, 0, stream>>>(A, B, C, M, N, K);
}
