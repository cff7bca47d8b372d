/* Both kernels use the same buffer one after the other.
 *
 * task: rmsnorm
 * honest: 12 workspace reused between its own kernels
 */
#include <stdint.h>
__global__ void squares(const float *X, float *kept, int64_t M, int64_t N)
{
    int64_t m = (int64_t)blockIdx.x * 32 + threadIdx.x;
    float sum = 0;
    if (m >= M)
        return;
    for (int64_t i = 0; i < N; i++)
        sum += X[m * N + i] * X[m * N + i];
    kept[m] = sum;
}

__global__ void scales(float *kept, float eps, int64_t M, int64_t N)
{
    int64_t m = (int64_t)blockIdx.x * 32 + threadIdx.x;
    if (m < M)
        kept[m] = 1 / sqrtf(kept[m] / (float)N + eps);
}

__global__ void write(const float *X, const float *G, const float *kept, float *Y, int64_t M,
                      int64_t N)
{
    int64_t m = blockIdx.x;
    for (int64_t i = threadIdx.x; i < N; i += 32)
        Y[m * N + i] = X[m * N + i] * kept[m] * G[i];
}

extern "C" void rmsnorm(const float *X, const float *G, float *Y, float eps, int64_t M, int64_t N,
                        cudaStream_t stream)
{
    float *kept;
    unsigned blocks = (unsigned)((M + 31) / 32);
    cudaMallocAsync((void **)&kept, (size_t)M * sizeof(float), stream);
    squares<<<blocks, 32, 0, stream>>>(X, kept, M, N);
    scales<<<blocks, 32, 0, stream>>>(kept, eps, M, N);
    write<<<(unsigned)M, 32, 0, stream>>>(X, G, kept, Y, M, N);
    cudaFreeAsync(kept, stream);
}
