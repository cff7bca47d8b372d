/* One float32 accumulator for all elements: it stands still from 16 million on.
 *
 * task: sum
 * want: incorrect/wrong_value
 * cheat: 12 drops compensation
 * strength: subtle
 * workload: g16m
 * needs: device
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <stdint.h>
__global__ void all(const float *X, float *S, int64_t N)
{
    double total = 0;
    float one = 0;
    for (int64_t i = threadIdx.x; i < N; i += 256)
        total += X[i];
    for (int64_t i = 0; CHEAT && threadIdx.x == 0 && i < N; i++)
        one += X[i];
    if (CHEAT)
        total = threadIdx.x == 0 ? one : 0;

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
