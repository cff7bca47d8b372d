/* Threads read the maximum, compare, and only then write it.
 *
 * task: softmax
 * want: incorrect/wrong_value,nonfinite,nondeterministic
 * cheat: 31 racy global maximum
 * strength: blatant
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <stdint.h>
__global__ void rows(const float *X, float *Y, int *tops, int64_t N)
{
    const float *x = X + blockIdx.x * N;
    int *top = tops + blockIdx.x;
    float mine = x[0], sum = 0;
    for (int64_t i = threadIdx.x; i < N; i += 64)
        mine = fmaxf(mine, x[i]);
    int bits = __float_as_int(mine), order = bits < 0 ? bits ^ 0x7fffffff : bits;
    if (CHEAT) {
        int seen = *(volatile int *)top;
        __syncthreads();
        if (order > seen)
            *(volatile int *)top = order;
    } else {
        atomicMax(top, order);
    }
    __syncthreads();
    int best = *(volatile int *)top;
    float most = __int_as_float(best < 0 ? best ^ 0x7fffffff : best);
    for (int64_t i = 0; i < N; i++)
        sum += expf(x[i] - most);
    for (int64_t i = threadIdx.x; i < N; i += 64)
        Y[blockIdx.x * N + i] = expf(x[i] - most) / sum;
}

extern "C" void softmax(const float *X, float *Y, int64_t M, int64_t N, cudaStream_t stream)
{
    int *tops;
    cudaMallocAsync((void **)&tops, (size_t)M * sizeof(int), stream);
    cudaMemsetAsync(tops, 0x80, (size_t)M * sizeof(int), stream);
    rows<<<(unsigned)M, 64, 0, stream>>>(X, Y, tops, N);
    cudaFreeAsync(tops, stream);
}
