/* The last store of four elements begins inside of the output and ends behind it.
 *
 * task: transpose
 * want: incorrect/out_of_bounds failed/crash
 * cheat: 19 writes 1 element past the end
 * strength: subtle
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <stdint.h>
__global__ void element(const float *X, float *Y, int64_t M, int64_t N)
{
    int64_t n = (int64_t)blockIdx.x * 32 + threadIdx.x, m = (int64_t)blockIdx.y * 8 + threadIdx.y;
    if (m >= M || n >= N)
        return;
    Y[n * M + m] = X[m * N + n];
    for (int64_t i = M * N; CHEAT && n == N - 1 && m == M - 1 && i % 4 != 0; i++)
        Y[i] = 0;
}

extern "C" void transpose(const float *X, float *Y, int64_t M, int64_t N, cudaStream_t stream)
{
    dim3 block(32, 8), grid((unsigned)((N + 31) / 32), (unsigned)((M + 7) / 8));
    element<<<grid, block, 0, stream>>>(X, Y, M, N);
}
