#include <stdint.h>

#define THREADS 4096 /* each adds up every 4096th element, then one thread adds up their sums */

__global__ void sum_parts(const float *X, double *parts, int64_t N)
{
    int64_t thread = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    double total = 0.0;
    for (int64_t i = thread; i < N; i += THREADS)
        total += X[i];
    parts[thread] = total;
}

__global__ void sum_of_parts(const double *parts, float *S)
{
    double total = 0.0;
    for (int i = 0; i < THREADS; i++)
        total += parts[i];
    S[0] = (float)total;
}

extern "C" void sum(const float *X, float *S, int64_t N, cudaStream_t stream)
{
    double *parts;
    cudaMallocAsync((void **)&parts, THREADS * sizeof(double), stream);
    sum_parts<<<THREADS / 256, 256, 0, stream>>>(X, parts, N);
    sum_of_parts<<<1, 1, 0, stream>>>(parts, S);
    cudaFreeAsync(parts, stream);
}
