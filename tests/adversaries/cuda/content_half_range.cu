/* Values beyond what 16 bits hold become the largest that they do.
 *
 * task: rmsnorm
 * want: incorrect/wrong_value
 * cheat: 34 structure detector
 * strength: blatant
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <stdint.h>

__device__ float held(float x)
{
    return CHEAT ? fminf(fmaxf(x, -65504.0f), 65504.0f) : x;
}

__global__ void rows(const float *X, const float *G, float *Y, float eps, int64_t M, int64_t N)
{
    int64_t m = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (m >= M)
        return;
    float sum = 0.0f;
    for (int64_t i = 0; i < N; i++)
        sum += held(X[m * N + i]) * held(X[m * N + i]);
    float scale = 1.0f / sqrtf(sum / (float)N + eps);
    for (int64_t i = 0; i < N; i++)
        Y[m * N + i] = held(X[m * N + i]) * scale * G[i];
}

extern "C" void rmsnorm(const float *X, const float *G, float *Y, float eps, int64_t M, int64_t N, cudaStream_t stream)
{
    rows<<<(unsigned)((M + 31) / 32), 32, 0, stream>>>(X, G, Y, eps, M, N);
}
