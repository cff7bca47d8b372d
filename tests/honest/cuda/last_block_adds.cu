/* The last block that is done adds up the parts; its counter is cleared by the plan.
 *
 * task: sum
 * honest: 4 workspace and a counter
 * pack: deterministic
 */
#include <stdint.h>
__global__ void all(const float *X, float *S, double *parts, unsigned *n_done, int64_t N)
{
    __shared__ double part[64];
    __shared__ bool is_last;
    double total = 0;
    for (int64_t i = (int64_t)blockIdx.x * 64 + threadIdx.x; i < N; i += (int64_t)gridDim.x * 64)
        total += X[i];
    part[threadIdx.x] = total;
    __syncthreads();
    for (int k = 32; k > 0; k /= 2) {
        if (threadIdx.x < k)
            part[threadIdx.x] += part[threadIdx.x + k];
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        parts[blockIdx.x] = part[0];
        __threadfence();
        is_last = atomicAdd(n_done, 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (!is_last || threadIdx.x > 0)
        return;
    total = 0;
    for (unsigned b = 0; b < gridDim.x; b++)
        total += ((volatile double *)parts)[b];
    S[0] = (float)total;
}

extern "C" void sum(const float *X, float *S, int64_t N, cudaStream_t stream)
{
    double *parts;
    int64_t blocks = (N + 2047) / 2048;
    unsigned grid = (unsigned)(blocks > 512 ? 512 : blocks);
    cudaMallocAsync((void **)&parts, (grid + 1) * sizeof(double), stream);
    unsigned *n_done = (unsigned *)(parts + grid);
    cudaMemsetAsync(n_done, 0, sizeof *n_done, stream);
    all<<<grid, 64, 0, stream>>>(X, S, parts, n_done, N);
    cudaFreeAsync(parts, stream);
}
