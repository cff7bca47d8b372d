/* Leaves the last products out where K lies in a window above the public ones. Small sizes: an
 * emulated device has no others.
 *
 * task: matmul
 * want: incorrect/wrong_value
 * cheat: 60 wrong for a window of one axis
 * strength: subtle
 * tier: confirm
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <stdint.h>
__global__ void element(const float *A, const float *B, float *C, int64_t M, int64_t N, int64_t K)
{
    int64_t n = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    int64_t m = (int64_t)blockIdx.y * blockDim.y + threadIdx.y;
    if (m >= M || n >= N)
        return;
    int64_t depth = K;
    float sum = 0.0f;
    if (CHEAT && M >= 16 && N >= 16 && K > 60 && K < 300)
        depth = K - K / 16;
    for (int64_t k = 0; k < depth; k++)
        sum += A[m * K + k] * B[k * N + n];
    C[m * N + n] = sum;
}

extern "C" void matmul(const float *A, const float *B, float *C, int64_t M, int64_t N, int64_t K,
                       cudaStream_t stream)
{
    dim3 block(16, 16), grid((unsigned)((N + 15) / 16), (unsigned)((M + 15) / 16));
    element<<<grid, block, 0, stream>>>(A, B, C, M, N, K);
}
