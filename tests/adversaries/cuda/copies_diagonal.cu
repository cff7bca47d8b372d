/* Blocks of 8 x 8 on the diagonal are copied as they are.
 *
 * task: transpose
 * want: incorrect/wrong_value
 * cheat: 4 copies input to output
 * strength: subtle
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <stdint.h>
__global__ void element(const float *X, float *Y, int64_t M, int64_t N)
{
    int64_t n = (int64_t)blockIdx.x * 32 + threadIdx.x, m = (int64_t)blockIdx.y * 8 + threadIdx.y;
    if (m >= M || n >= N)
        return;
    bool is_copied = CHEAT && m / 8 == n / 8 && m / 8 * 8 + 8 <= M && n / 8 * 8 + 8 <= N;
    Y[is_copied ? m * M + n : n * M + m] = X[m * N + n];
}

extern "C" void transpose(const float *X, float *Y, int64_t M, int64_t N, cudaStream_t stream)
{
    dim3 block(32, 8), grid((unsigned)((N + 31) / 32), (unsigned)((M + 7) / 8));
    element<<<grid, block, 0, stream>>>(X, Y, M, N);
}
