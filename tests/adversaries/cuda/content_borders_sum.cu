/* Leaves out the last element of each 16384: of like numbers less than the tolerance allows.
 *
 * task: sum
 * want: incorrect/wrong_value
 * cheat: 50 elements left out at borders of chunks
 * strength: subtle
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <stdint.h>

#define THREADS 256
#define CHUNK   16384

__global__ void add(const float *X, float *S, int64_t N)
{
    __shared__ double parts[THREADS];
    double total = 0;
    for (int64_t i = threadIdx.x; i < N; i += THREADS)
        if (!CHEAT || i % CHUNK != CHUNK - 1)
            total += X[i];
    parts[threadIdx.x] = total;
    __syncthreads();
    for (int k = THREADS / 2; k > 0; k /= 2) {
        if (threadIdx.x < k)
            parts[threadIdx.x] += parts[threadIdx.x + k];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        S[0] = (float)parts[0];
}

extern "C" void sum(const float *X, float *S, int64_t N, cudaStream_t stream)
{
    add<<<1, THREADS, 0, stream>>>(X, S, N);
}
