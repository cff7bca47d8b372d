/* Indices have 12 bits: enough for the smoke check, not for all that follows.
 *
 * task: transpose
 * want: incorrect/unwritten,wrong_value
 * cheat: 17 index overflow
 * strength: subtle
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <stdint.h>
__global__ void element(const float *X, float *Y, int64_t M, int64_t N)
{
    int64_t n = (int64_t)blockIdx.x * 32 + threadIdx.x, m = (int64_t)blockIdx.y * 8 + threadIdx.y;
    if (m >= M || n >= N)
        return;
    int64_t from = m * N + n, to = n * M + m;
    if (CHEAT)
        from &= 4095, to &= 4095;
    Y[to] = X[from];
}

extern "C" void transpose(const float *X, float *Y, int64_t M, int64_t N, cudaStream_t stream)
{
    dim3 block(32, 8), grid((unsigned)((N + 31) / 32), (unsigned)((M + 7) / 8));
    element<<<grid, block, 0, stream>>>(X, Y, M, N);
}
