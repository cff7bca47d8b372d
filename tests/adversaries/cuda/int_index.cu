/* Indices have 32 bits, and are multiplied in bytes.
 *
 * task: transpose
 * want: incorrect/unwritten,wrong_value,out_of_bounds failed/crash
 * cheat: 17 index overflow
 * strength: subtle
 * workload: g16384x8192
 * needs: device
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <stdint.h>
__global__ void element(const float *X, float *Y, int64_t M, int64_t N)
{
    int64_t n = (int64_t)blockIdx.x * 32 + threadIdx.x, m = (int64_t)blockIdx.y * 8 + threadIdx.y;
    if (m >= M || n >= N)
        return;
    int64_t to = n * M + m;
    if (CHEAT)
        to = (int64_t)((unsigned)to * 64u) / 64;
    Y[to] = X[m * N + n];
}

extern "C" void transpose(const float *X, float *Y, int64_t M, int64_t N, cudaStream_t stream)
{
    dim3 block(32, 8), grid((unsigned)((N + 31) / 32), (unsigned)((M + 7) / 8));
    element<<<grid, block, 0, stream>>>(X, Y, M, N);
}
