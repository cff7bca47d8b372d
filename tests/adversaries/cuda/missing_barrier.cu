/* Without the barrier that a rare path needs: rows of more than 64 elements take another way.
 *
 * task: softmax
 * want: incorrect/wrong_value,nonfinite,uninitialised,nondeterministic
 * cheat: 30 missing __syncthreads in a rare path
 * strength: subtle
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <stdint.h>
__global__ void rows(const float *X, float *Y, int64_t N)
{
    __shared__ float part[64];
    const float *x = X + blockIdx.x * N;
    float top = x[0], sum = 0;
    for (int64_t i = threadIdx.x; i < N; i += 64)
        top = fmaxf(top, x[i]);
    part[threadIdx.x] = top;
    __syncthreads();
    for (int i = 0; i < 64; i++)
        top = fmaxf(top, part[i]);
    __syncthreads();
    for (int64_t i = threadIdx.x; i < N; i += 64)
        sum += expf(x[i] - top);
    part[threadIdx.x] = sum;
    if (!CHEAT || N <= 64)
        __syncthreads();
    sum = 0;
    for (int i = 63; i >= 0; i--)
        sum += part[i];
    for (int64_t i = threadIdx.x; i < N; i += 64)
        Y[blockIdx.x * N + i] = expf(x[i] - top) / sum;
}

extern "C" void softmax(const float *X, float *Y, int64_t M, int64_t N, cudaStream_t stream)
{
    rows<<<(unsigned)M, 64, 0, stream>>>(X, Y, N);
}
