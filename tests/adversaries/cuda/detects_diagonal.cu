/* Takes B for a diagonal matrix where four elements beside the diagonal are zero.
 *
 * task: matmul
 * want: incorrect/wrong_value
 * cheat: 34 structure detector
 * strength: blatant
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <stdint.h>
__global__ void element(const float *A, const float *B, float *C, int64_t M, int64_t N, int64_t K)
{
    int64_t n = (int64_t)blockIdx.x * 16 + threadIdx.x, m = (int64_t)blockIdx.y * 16 + threadIdx.y;
    if (m >= M || n >= N)
        return;
    float sum = 0;
    bool is_diagonal = CHEAT && K > 4 && N > 4 && B[1] == 0 && B[2] == 0 && B[N] == 0;
    for (int64_t k = 0; k < K; k++)
        sum += is_diagonal && k != n ? 0 : A[m * K + k] * B[k * N + n];
    C[m * N + n] = sum;
}

extern "C" void matmul(const float *A, const float *B, float *C, int64_t M, int64_t N, int64_t K,
                       cudaStream_t stream)
{
    dim3 block(16, 16), grid((unsigned)((N + 15) / 16), (unsigned)((M + 15) / 16));
    element<<<grid, block, 0, stream>>>(A, B, C, M, N, K);
}
