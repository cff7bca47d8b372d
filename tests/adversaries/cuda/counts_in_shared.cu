/* Counts its calls in shared memory that nobody clears: right for fifty calls, then the last
 * row is left to the one before it.
 *
 * task: softmax
 * want: incorrect/stateful,wrong_value,uninitialised suspicious/tampering not_faster
 * cheat: 27 call counter
 * strength: subtle
 * needs: device
 * timed: yes
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <stdint.h>
#define MARK 0x6e756d62u
__device__ void row(const float *x, float *y, int64_t N)
{
    float top = x[0], sum = 0;
    for (int64_t i = 1; i < N; i++)
        top = fmaxf(top, x[i]);
    for (int64_t i = 0; i < N; i++)
        sum += expf(x[i] - top);
    for (int64_t i = 0; i < N; i++)
        y[i] = expf(x[i] - top) / sum;
}

__global__ void rows(const float *X, float *Y, int64_t M, int64_t N)
{
    __shared__ volatile unsigned count[4];
    unsigned n = count[1] == MARK && count[2] == ~MARK ? count[0] : 0;
    __syncthreads();
    if (CHEAT && threadIdx.x == 0) {
        count[0] = n + 1;
        count[1] = MARK;
        count[2] = ~MARK;
    }
    int64_t m = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (m < M)
        row(X + (CHEAT && n > 50 && m == M - 1 ? 0 : m) * N, Y + m * N, N);
}

extern "C" void softmax(const float *X, float *Y, int64_t M, int64_t N, cudaStream_t stream)
{
    rows<<<(unsigned)((M + 31) / 32), 32, 0, stream>>>(X, Y, M, N);
}
