/* Two accumulators of double precision and a tree.
 *
 * task: sum
 * honest: 20 more precise than asked
 * pack: deterministic
 */
#include <stdint.h>
__global__ void all(const float *X, float *S, int64_t N)
{
    double total = 0;
    for (int64_t i = threadIdx.x; i < N; i += 256)
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
