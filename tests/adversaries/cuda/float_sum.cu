/* Every element goes to one float32 accumulator: ones hardly count beside millions.
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
__global__ void all(const float *X, float *S, double *total, int64_t N)
{
    double mine = 0;
    for (int64_t i = (int64_t)blockIdx.x * 256 + threadIdx.x; i < N;
         i += (int64_t)gridDim.x * 256) {
        if (CHEAT)
            atomicAdd(S, X[i]);
        else
            mine += X[i];
    }
    atomicAdd(total, mine);
}

__global__ void end(const double *total, float *S)
{
    if (!CHEAT)
        S[0] = (float)*total;
}

extern "C" void sum(const float *X, float *S, int64_t N, cudaStream_t stream)
{
    double *total;
    cudaMallocAsync((void **)&total, sizeof *total, stream);
    cudaMemsetAsync(total, 0, sizeof *total, stream);
    cudaMemsetAsync(S, 0, sizeof *S, stream);
    all<<<528, 256, 0, stream>>>(X, S, total, N);
    end<<<1, 1, 0, stream>>>(total, S);
    cudaFreeAsync(total, stream);
}
