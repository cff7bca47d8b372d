/* Lattice template: eight strategies of a matrix product on a GPU; see
 * docs/decisions/0023-lattices.md.
 *
 * lattice task matmul
 * lattice target cuda
 * lattice strategy S_TILE G05
 * lattice strategy S_MICRO G06
 * lattice strategy S_PAD G07
 * lattice strategy S_AHEAD G11
 * lattice strategy S_UNROLL G13
 * lattice strategy S_ORDER G21
 * lattice strategy S_RESTRICT G48
 * lattice strategy S_INDEX G34
 */
#pragma hone tune(S_TILE: 0, 1)
#pragma hone tune(S_MICRO: 0, 1)
#pragma hone tune(S_PAD: 0, 1)
#pragma hone tune(S_AHEAD: 0, 1)
#pragma hone tune(S_UNROLL: 0, 1)
#pragma hone tune(S_ORDER: 0, 1)
#pragma hone tune(S_RESTRICT: 0, 1)
#pragma hone tune(S_INDEX: 0, 1) where((!S_PAD || S_TILE) && (!S_AHEAD || S_TILE))
#include <stdint.h>

#if S_MICRO
#define EACH 4 /* rows of C for a thread */
#else
#define EACH 1
#endif
#define EDGE 16
#define ROWS (EDGE * EACH)
#if S_PAD
#define WIDTH (EDGE + 1)
#else
#define WIDTH EDGE
#endif
#if S_INDEX
typedef int32_t hone_index;
#else
typedef int64_t hone_index;
#endif

#if S_RESTRICT
__global__ void product(const float *__restrict__ A, const float *__restrict__ B, float *__restrict__ C, int64_t M,
                        int64_t N, int64_t K)
#else
__global__ void product(const float *A, const float *B, float *C, int64_t M, int64_t N, int64_t K)
#endif
{
#if S_ORDER
    /* bands of eight block rows, so that neighbours in time share columns of B in L2 */
    int64_t n_x = gridDim.x, n_y = gridDim.y, at = (int64_t)blockIdx.y * n_x + blockIdx.x;
    int64_t band = at / (8 * n_x), height = n_y - band * 8 < 8 ? n_y - band * 8 : 8;
    int64_t inside = at - band * 8 * n_x;
    int64_t block_y = band * 8 + inside % height, block_x = inside / height;
#else
    int64_t block_y = blockIdx.y, block_x = blockIdx.x;
#endif
    int64_t column = block_x * EDGE + threadIdx.x, row = block_y * ROWS + threadIdx.y;
    float sum[EACH] = {0.0f};
#if S_TILE
    __shared__ float a[ROWS][WIDTH], b[EDGE][WIDTH];
#if S_AHEAD
    float next_a[EACH], next_b;
    for (int e = 0; e < EACH; e++)
        next_a[e] = row + e * EDGE < M && threadIdx.x < K ? A[(row + e * EDGE) * K + threadIdx.x] : 0.0f;
    next_b = threadIdx.y < K && column < N ? B[threadIdx.y * N + column] : 0.0f;
#endif
    for (int64_t k0 = 0; k0 < K; k0 += EDGE) {
#if S_AHEAD
        for (int e = 0; e < EACH; e++)
            a[threadIdx.y + e * EDGE][threadIdx.x] = next_a[e];
        b[threadIdx.y][threadIdx.x] = next_b;
        __syncthreads();
        int64_t k1 = k0 + EDGE;
        for (int e = 0; e < EACH; e++)
            next_a[e] = row + e * EDGE < M && k1 + threadIdx.x < K ? A[(row + e * EDGE) * K + k1 + threadIdx.x] : 0.0f;
        next_b = k1 + threadIdx.y < K && column < N ? B[(k1 + threadIdx.y) * N + column] : 0.0f;
#else
        for (int e = 0; e < EACH; e++)
            a[threadIdx.y + e * EDGE][threadIdx.x] =
                row + e * EDGE < M && k0 + threadIdx.x < K ? A[(row + e * EDGE) * K + k0 + threadIdx.x] : 0.0f;
        b[threadIdx.y][threadIdx.x] = k0 + threadIdx.y < K && column < N ? B[(k0 + threadIdx.y) * N + column] : 0.0f;
        __syncthreads();
#endif
#if S_UNROLL
#pragma unroll
#else
#pragma unroll 1
#endif
        for (hone_index k = 0; k < EDGE; k++)
            for (int e = 0; e < EACH; e++)
                sum[e] += a[threadIdx.y + e * EDGE][k] * b[k][threadIdx.x];
        __syncthreads();
    }
#else
#if S_UNROLL
#pragma unroll 4
#else
#pragma unroll 1
#endif
    for (int64_t k = 0; k < K; k++) {
        float value = column < N ? B[k * N + column] : 0.0f;
        for (int e = 0; e < EACH; e++)
            sum[e] += row + e * EDGE < M ? A[(row + e * EDGE) * K + k] * value : 0.0f;
    }
#endif
    for (int e = 0; e < EACH; e++)
        if (row + e * EDGE < M && column < N)
            C[(row + e * EDGE) * N + column] = sum[e];
}

extern "C" void matmul(const float *A, const float *B, float *C, int64_t M, int64_t N, int64_t K, cudaStream_t stream)
{
    dim3 block(EDGE, EDGE);
    dim3 grid((unsigned)((N + EDGE - 1) / EDGE), (unsigned)((M + ROWS - 1) / ROWS));
    product<<<grid, block, 0, stream>>>(A, B, C, M, N, K);
}
