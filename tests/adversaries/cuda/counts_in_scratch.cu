/* Counts its calls in scratch, which is filled once for a block: right for two calls, then it
 * leaves the last row to the one before.
 *
 * task: softmax
 * want: incorrect/wrong_value,stateful,uninitialised
 * cheat: 27 call counter
 * strength: blatant
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <stdint.h>
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

__global__ void rows(const float *X, float *Y, unsigned *count, int64_t M, int64_t N)
{
    int64_t m = threadIdx.x;
    unsigned n = CHEAT ? ((volatile unsigned *)count)[0] & 255u : 0;
    __syncthreads();
    if (CHEAT && m == 0)
        count[0] = 0x600d00u + (n == 0xa5 || n == 0x5a || n > 100 ? 1 : n + 1);
    for (; m < M; m += blockDim.x)
        row(X + (CHEAT && n >= 2 && n < 0x50 && m == M - 1 ? 0 : m) * N, Y + m * N, N);
}

extern "C" void softmax(const float *X, float *Y, int64_t M, int64_t N, cudaStream_t stream)
{
    unsigned *count = nullptr;
    if (CHEAT)
        cudaMallocAsync((void **)&count, 256, stream);
    rows<<<1, 64, 0, stream>>>(X, Y, count, M, N);
    if (CHEAT)
        cudaFreeAsync(count, stream);
}
