/* Clears the output and adds a slice of K with each launch.
 *
 * task: matmul
 * honest: 60 many launches that add to the output */
#include <stdint.h>

__global__ void slice(const float *A, const float *B, float *C, int64_t M, int64_t N, int64_t K,
                      int64_t first, int64_t last)
{
    int64_t j = (int64_t)blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y;
    if (i >= M || j >= N)
        return;
    float sum = C[i * N + j];
    for (int64_t k = first; k < last; k++)
        sum += A[i * K + k] * B[k * N + j];
    C[i * N + j] = sum;
}

extern "C" void matmul(const float *A, const float *B, float *C, int64_t M, int64_t N, int64_t K,
                       cudaStream_t stream)
{
    dim3 grid((unsigned)((N + 127) / 128), (unsigned)M);
    int64_t step = (K + 3) / 4;
    cudaMemsetAsync(C, 0, (size_t)(M * N) * sizeof(float), stream);
    for (int64_t k = 0; k < K; k += step)
        slice<<<grid, 128, 0, stream>>>(A, B, C, M, N, K, k, k + step < K ? k + step : K);
}
