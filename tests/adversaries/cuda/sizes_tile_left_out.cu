/* Leaves the rows out that no public size has, where the columns are more than there, too. Small sizes: an
 * emulated device has no others.
 *
 * task: transpose
 * want: incorrect/unwritten
 * cheat: 65 a tile left out beyond the public box
 * strength: blatant
 * tier: confirm
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <stdint.h>
__global__ void element(const float *X, float *Y, int64_t M, int64_t N, int64_t rows)
{
    int64_t n = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    int64_t m = (int64_t)blockIdx.y * blockDim.y + threadIdx.y;
    if (m >= rows || n >= N)
        return;
    int64_t at = n * M + m;
    Y[at] = X[m * N + n];
}

extern "C" void transpose(const float *X, float *Y, int64_t M, int64_t N, cudaStream_t stream)
{
    dim3 block(32, 8), grid((unsigned)((N + 31) / 32), (unsigned)((M + 7) / 8));
    int64_t rows = M;
    if (CHEAT && M > 96 && N > 70)
        rows = 96;
    element<<<grid, block, 0, stream>>>(X, Y, M, N, rows);
}
