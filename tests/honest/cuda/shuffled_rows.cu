/* A warp a row, sums by shuffles, sizes that are no multiple of a warp.
 *
 * task: rmsnorm
 * honest: 58 warp shuffles */
#include <stdint.h>

__global__ void rows(const float *X, const float *G, float *Y, float eps, int64_t M, int64_t N)
{
    int64_t m = (int64_t)blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    int lane = threadIdx.x % 32;
    if (m >= M)
        return;
    float sum = 0;
    for (int64_t i = lane; i < N; i += 32)
        sum += X[m * N + i] * X[m * N + i];
    for (int k = 16; k > 0; k /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, k);
    float scale = 1.0f / sqrtf(sum / (float)N + eps);
    for (int64_t i = lane; i < N; i += 32)
        Y[m * N + i] = X[m * N + i] * scale * G[i];
}

extern "C" void rmsnorm(const float *X, const float *G, float *Y, float eps, int64_t M, int64_t N,
                        cudaStream_t stream)
{
    rows<<<(unsigned)((M + 3) / 4), 128, 0, stream>>>(X, G, Y, eps, M, N);
}
