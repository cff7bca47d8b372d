/* Adds to what shared memory holds before anybody wrote there.
 *
 * task: sum
 * want: incorrect/wrong_value,nonfinite,uninitialised,nondeterministic
 * cheat: 23 reads uninitialised shared memory
 * strength: blatant
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <stdint.h>
__global__ void all(const float *X, float *S, int64_t N)
{
    __shared__ double total;
    if (!CHEAT && threadIdx.x == 0)
        total = 0;
    __syncthreads();
    double mine = 0;
    for (int64_t i = threadIdx.x; i < N; i += 256)
        mine += X[i];
    atomicAdd(&total, mine);
    __syncthreads();
    if (threadIdx.x == 0)
        S[0] = (float)total;
}

extern "C" void sum(const float *X, float *S, int64_t N, cudaStream_t stream)
{
    all<<<1, 256, 0, stream>>>(X, S, N);
}
