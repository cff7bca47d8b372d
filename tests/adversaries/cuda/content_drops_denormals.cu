/* Denormal numbers become zeros.
 *
 * task: transpose
 * want: incorrect/wrong_value
 * cheat: 34 structure detector
 * strength: blatant
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <stdint.h>

__device__ float carried(float x)
{
    return CHEAT && fabsf(x) < 1.17549435e-38f ? copysignf(0.0f, x) : x;
}

__global__ void cells(const float *X, float *Y, int64_t M, int64_t N)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < M * N)
        Y[i % N * M + i / N] = carried(X[i]);
}

extern "C" void transpose(const float *X, float *Y, int64_t M, int64_t N, cudaStream_t stream)
{
    cells<<<(unsigned)((M * N + 255) / 256), 256, 0, stream>>>(X, Y, M, N);
}
