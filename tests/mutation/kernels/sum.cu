/* Blocks add up strided parts in shared memory; one block adds up theirs. */
#include <stdint.h>

#define THREADS 64
#define BLOCKS  16

__device__ double block_sum(double mine)
{
    __shared__ double parts[THREADS];
    int thread = threadIdx.x;
    parts[thread] = mine;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (thread < half)
            parts[thread] += parts[thread + half];
        __syncthreads();
    }
    return parts[0];
}

__global__ void sum_parts(const float *X, double *parts, int64_t N)
{
    double total = 0.0;
    for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i < N; i += BLOCKS * THREADS)
        total += X[i];
    total = block_sum(total);
    if (threadIdx.x == 0)
        parts[blockIdx.x] = total;
}

__global__ void sum_of_parts(const double *parts, float *S)
{
    double total = threadIdx.x < BLOCKS ? parts[threadIdx.x] : 0.0;
    total = block_sum(total);
    if (threadIdx.x == 0)
        S[0] = (float)total;
}

extern "C" void sum(const float *X, float *S, int64_t N, cudaStream_t stream)
{
    double *parts;
    cudaMallocAsync((void **)&parts, BLOCKS * sizeof(double), stream);
    sum_parts<<<BLOCKS, THREADS, 0, stream>>>(X, parts, N);
    sum_of_parts<<<1, THREADS, 0, stream>>>(parts, S);
    cudaFreeAsync(parts, stream);
}
