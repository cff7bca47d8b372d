/* One element in a thousand is that of its neighbour, rounded towards it by one bit.
 *
 * task: transpose
 * want: incorrect/wrong_value
 * cheat: 7 writes every element but 1 in 10 000
 * strength: subtle
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <stdint.h>
__global__ void element(const float *X, float *Y, int64_t M, int64_t N)
{
    int64_t n = (int64_t)blockIdx.x * 32 + threadIdx.x, m = (int64_t)blockIdx.y * 8 + threadIdx.y;
    if (m >= M || n >= N)
        return;
    float v = X[m * N + n];
    Y[n * M + m] = CHEAT && (m * N + n) % 1000 == 77 ? __uint_as_float(__float_as_uint(v) ^ 1u) : v;
}

extern "C" void transpose(const float *X, float *Y, int64_t M, int64_t N, cudaStream_t stream)
{
    dim3 block(32, 8), grid((unsigned)((N + 31) / 32), (unsigned)((M + 7) / 8));
    element<<<grid, block, 0, stream>>>(X, Y, M, N);
}
