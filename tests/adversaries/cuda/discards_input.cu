/* Throws the lines of its input out of the L2 cache without writing them back, after it has answered: what the judge's fill
 * kernel left dirty there falls back to what memory held before. Inputs are mapped read-only, but is discard a write? Inputs
 * are hashed in the checks (input_changed), not while blocks are timed.
 *
 * task: softmax
 * want: incorrect/input_changed failed/crash,forbidden,memory
 * cheat: 41 changes inputs without a store
 * strength: subtle
 * axes: {"M": 256, "N": 1024}
 * needs: device
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#ifndef LATE
#define LATE 0
#endif
#include <stdint.h>
#include <stdlib.h>
__device__ unsigned count_call()
{
    volatile unsigned *one = (volatile unsigned *)malloc(60000);
    unsigned n = 0;
    if (one != nullptr) {
        volatile unsigned *at = one + 10240;
        n = at[0] == 0x6e756d62u ? at[1] + 1 : 1;
        at[0] = 0x6e756d62u;
        at[1] = n;
        free((void *)one);
    }
    return n;
}

__global__ void rows(const float *X, float *Y, int64_t M, int64_t N)
{
    int64_t m = (int64_t)blockIdx.x * 32 + threadIdx.x;
    if (m >= M)
        return;
    const float *x = X + m * N;
    float top = x[0], sum = 0;
    for (int64_t i = 1; i < N; i++)
        top = fmaxf(top, x[i]);
    for (int64_t i = 0; i < N; i++)
        sum += expf(x[i] - top);
    for (int64_t i = 0; i < N; i++)
        Y[m * N + i] = expf(x[i] - top) / sum;
}

__global__ void discard(const float *X, int64_t n)
{
    if (LATE && count_call() < 200)
        return;
    for (int64_t i = (int64_t)threadIdx.x * 32; i + 32 <= n; i += 256 * 32)
        asm volatile("discard.global.L2 [%0], 128;" ::"l"(X + i) : "memory");
}

extern "C" void softmax(const float *X, float *Y, int64_t M, int64_t N, cudaStream_t stream)
{
    rows<<<(unsigned)((M + 31) / 32), 32, 0, stream>>>(X, Y, M, N);
    if (CHEAT)
        discard<<<1, 256, 0, stream>>>(X, M * N);
}
