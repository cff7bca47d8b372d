/* Lattice template: eight strategies of a transposition on a GPU; see
 * docs/decisions/0023-lattices.md.
 *
 * lattice task transpose
 * lattice target cuda
 * lattice strategy S_TILE G04
 * lattice strategy S_PAD G07
 * lattice strategy S_AXIS G01
 * lattice strategy S_ROWS G06
 * lattice strategy S_UNROLL G13
 * lattice strategy S_SHAPE G14
 * lattice strategy S_RESTRICT G48
 * lattice strategy S_INDEX G34
 */
#pragma hone tune(S_TILE: 0, 1)
#pragma hone tune(S_PAD: 0, 1)
#pragma hone tune(S_AXIS: 0, 1)
#pragma hone tune(S_ROWS: 0, 1)
#pragma hone tune(S_UNROLL: 0, 1)
#pragma hone tune(S_SHAPE: 0, 1)
#pragma hone tune(S_RESTRICT: 0, 1)
#pragma hone tune(S_INDEX: 0, 1) where((!S_PAD || S_TILE) && (!S_AXIS || !S_TILE))
#include <stdint.h>

#if S_SHAPE
#define LINES 16
#else
#define LINES 8
#endif
#if S_ROWS
#define ROWS 32
#else
#define ROWS LINES
#endif
#if S_INDEX
typedef int32_t hone_index;
#else
typedef int64_t hone_index;
#endif

#if S_RESTRICT
__global__ void turn(const float *__restrict__ X, float *__restrict__ Y, int64_t M, int64_t N)
#else
__global__ void turn(const float *X, float *Y, int64_t M, int64_t N)
#endif
{
#if S_TILE
#if S_PAD
    __shared__ float tile[32][33];
#else
    __shared__ float tile[32][32];
#endif
    int64_t m0 = (int64_t)blockIdx.y * 32, n0 = (int64_t)blockIdx.x * 32;
#if S_UNROLL
#pragma unroll
#endif
    for (hone_index r = threadIdx.y; r < 32; r += LINES)
        if (m0 + r < M && n0 + threadIdx.x < N)
            tile[r][threadIdx.x] = X[(m0 + r) * N + n0 + threadIdx.x];
    __syncthreads();
#if S_UNROLL
#pragma unroll
#endif
    for (hone_index r = threadIdx.y; r < 32; r += LINES)
        if (n0 + r < N && m0 + threadIdx.x < M)
            Y[(n0 + r) * M + m0 + threadIdx.x] = tile[threadIdx.x][r];
#elif S_AXIS
    int64_t m = (int64_t)blockIdx.x * 32 + threadIdx.x;
#if S_UNROLL
#pragma unroll
#endif
    for (hone_index r = threadIdx.y; r < ROWS; r += LINES) {
        int64_t n = (int64_t)blockIdx.y * ROWS + r;
        if (m < M && n < N)
            Y[n * M + m] = X[m * N + n];
    }
#else
    int64_t n = (int64_t)blockIdx.x * 32 + threadIdx.x;
#if S_UNROLL
#pragma unroll
#endif
    for (hone_index r = threadIdx.y; r < ROWS; r += LINES) {
        int64_t m = (int64_t)blockIdx.y * ROWS + r;
        if (m < M && n < N)
            Y[n * M + m] = X[m * N + n];
    }
#endif
}

extern "C" void transpose(const float *X, float *Y, int64_t M, int64_t N, cudaStream_t stream)
{
    dim3 block(32, LINES);
#if S_TILE
    dim3 grid((unsigned)((N + 31) / 32), (unsigned)((M + 31) / 32));
#elif S_AXIS
    dim3 grid((unsigned)((M + 31) / 32), (unsigned)((N + ROWS - 1) / ROWS));
#else
    dim3 grid((unsigned)((N + 31) / 32), (unsigned)((M + ROWS - 1) / ROWS));
#endif
    turn<<<grid, block, 0, stream>>>(X, Y, M, N);
}
