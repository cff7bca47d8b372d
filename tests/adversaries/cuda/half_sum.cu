/* One accumulator of half precision, scaled so that it does not overflow.
 *
 * task: sum
 * want: incorrect/wrong_value,nonfinite
 * cheat: 12 drops compensation
 * strength: blatant
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <cuda_fp16.h>
#include <stdint.h>
__global__ void all(const float *X, float *S, int64_t N)
{
    double total = 0;
    for (int64_t i = threadIdx.x; i < N; i += 256) {
        total += X[i];
        if (CHEAT)
            total = 64 * (double)__half2float(__float2half((float)total / 64));
    }

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
