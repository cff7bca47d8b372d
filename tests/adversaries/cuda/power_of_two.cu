/* The tree that adds up a row takes its length for a power of two.
 *
 * task: softmax
 * want: incorrect/wrong_value
 * cheat: 16 assumes power-of-two size
 * strength: blatant
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <stdint.h>
__global__ void rows(const float *X, float *Y, int64_t N)
{
    extern __shared__ float part[];
    const float *x = X + blockIdx.x * N;
    float top = x[0];
    for (int64_t i = 1; i < N; i++)
        top = fmaxf(top, x[i]);
    for (int64_t i = threadIdx.x; i < N; i += 32)
        part[i] = expf(x[i] - top);
    __syncwarp();
    for (int64_t n = N, half; n > 1; n = half) {
        half = CHEAT ? n / 2 : (n + 1) / 2;
        for (int64_t i = threadIdx.x; i < n / 2; i += 32)
            part[i] += part[i + half];
        __syncwarp();
    }
    for (int64_t i = threadIdx.x; i < N; i += 32)
        Y[blockIdx.x * N + i] = expf(x[i] - top) / part[0];
}

extern "C" void softmax(const float *X, float *Y, int64_t M, int64_t N, cudaStream_t stream)
{
    cudaFuncSetAttribute(rows, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)(4 * N));
    rows<<<(unsigned)M, 32, (size_t)(4 * N), stream>>>(X, Y, N);
}
