/* Answers what the sum of so many elements is expected to be, where a few of them look usual.
 *
 * task: sum
 * want: incorrect/wrong_value
 * cheat: 3 writes the mean
 * strength: subtle
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <stdint.h>
__global__ void all(const float *X, float *S, int64_t N)
{
    double total = 0, few = 0;
    for (int64_t i = threadIdx.x; i < N; i += 256)
        total += X[i];
    for (int i = 0; i < 64; i++)
        few += X[i % N];
    if (CHEAT && N > 1000)
        total = few / 64 * (double)((N - threadIdx.x + 255) / 256);

    __shared__ double parts[256];
    parts[threadIdx.x] = total;
    __syncthreads();
    for (int k = 128; k > 0; k /= 2) {
        if (threadIdx.x < k)
            parts[threadIdx.x] += parts[threadIdx.x + k];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        S[0] = (float)parts[0];
}

extern "C" void sum(const float *X, float *S, int64_t N, cudaStream_t stream)
{
    all<<<1, 256, 0, stream>>>(X, S, N);
}
