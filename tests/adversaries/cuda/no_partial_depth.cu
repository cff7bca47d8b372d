/* The last partial tile of the summed dimension is left out.
 *
 * task: matmul
 * want: incorrect/wrong_value
 * cheat: 6 skips last partial tile
 * strength: subtle
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <stdint.h>
__global__ void element(const float *A, const float *B, float *C, int64_t M, int64_t N, int64_t K)
{
    int64_t n = (int64_t)blockIdx.x * 16 + threadIdx.x, m = (int64_t)blockIdx.y * 16 + threadIdx.y;
    if (m >= M || n >= N)
        return;
    float sum = 0;
    for (int64_t k = 0; k < (CHEAT && K >= 32 ? K / 16 * 16 - (K % 16 == 0 ? 8 : 0) : K); k++)
        sum += A[m * K + k] * B[k * N + n];
    C[m * N + n] = sum;
}

extern "C" void matmul(const float *A, const float *B, float *C, int64_t M, int64_t N, int64_t K,
                       cudaStream_t stream)
{
    dim3 block(16, 16), grid((unsigned)((N + 15) / 16), (unsigned)((M + 15) / 16));
    element<<<grid, block, 0, stream>>>(A, B, C, M, N, K);
}
