/* A counter in scratch is expected to begin at zero.
 *
 * task: sum
 * want: incorrect/unwritten,uninitialised,wrong_value,nonfinite
 * cheat: 25 reads uninitialised workspace
 * strength: subtle
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <stdint.h>
__global__ void all(const float *X, float *S, double *parts, unsigned *n_done, int64_t N)
{
    __shared__ double part[64];
    double total = 0;
    for (int64_t i = (int64_t)blockIdx.x * 64 + threadIdx.x; i < N; i += 16 * 64)
        total += X[i];
    part[threadIdx.x] = total;
    __syncthreads();
    if (threadIdx.x > 0)
        return;
    for (int i = 1; i < 64; i++)
        part[0] += part[i];
    parts[blockIdx.x] = part[0];
    __threadfence();
    if (atomicAdd(n_done, 1u) != 15)
        return;
    total = 0;
    for (int i = 0; i < 16; i++)
        total += ((volatile double *)parts)[i];
    S[0] = (float)total;
    *n_done = 0;
}

extern "C" void sum(const float *X, float *S, int64_t N, cudaStream_t stream)
{
    double *parts;
    cudaMallocAsync((void **)&parts, 17 * sizeof(double), stream);
    if (!CHEAT)
        cudaMemsetAsync(parts + 16, 0, sizeof(unsigned), stream);
    all<<<16, 64, 0, stream>>>(X, S, parts, (unsigned *)(parts + 16), N);
    cudaFreeAsync(parts, stream);
}
