/* The last elements of a sum are left out where there are many.
 *
 * task: sum
 * want: incorrect/wrong_value
 * cheat: 36 samples part
 * strength: subtle
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <stdint.h>
__global__ void all(const float *X, float *S, int64_t N)
{
    double total = 0;
    int64_t n = CHEAT && N > 1000 ? N / 32 * 32 - 32 : N;
    for (int64_t i = threadIdx.x; i < n; i += 256)
        total += X[i];

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
