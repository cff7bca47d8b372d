/* Takes a row of the product of which every sixteenth element is what it should be for done.
 *
 * task: matmul
 * want: incorrect/unwritten,stateful,wrong_value
 * cheat: 52 part of an output taken for all
 * strength: subtle
 * timed: no
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <stdint.h>

__device__ float element(const float *A, const float *B, int64_t m, int64_t n, int64_t N, int64_t K)
{
    float sum = 0.0f;
    for (int64_t k = 0; k < K; k++)
        sum += A[m * K + k] * B[k * N + n];
    return sum;
}

/* A block a row. */
__global__ void rows(const float *A, const float *B, float *C, int64_t N, int64_t K)
{
    int64_t m = blockIdx.x;
    int is_done = CHEAT;
    for (int64_t n = 0; n < N; n += 16)
        is_done = is_done && C[m * N + n] == element(A, B, m, n, N, K);
    __syncthreads();
    if (is_done)
        return;
    for (int64_t n = threadIdx.x; n < N; n += blockDim.x)
        C[m * N + n] = element(A, B, m, n, N, K);
}

extern "C" void matmul(const float *A, const float *B, float *C, int64_t M, int64_t N, int64_t K,
                       cudaStream_t stream)
{
    rows<<<(unsigned)M, 32, 0, stream>>>(A, B, C, N, K);
}
