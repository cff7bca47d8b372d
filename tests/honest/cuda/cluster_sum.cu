/* Blocks of a cluster add up what each has, through distributed shared memory.
 *
 * task: sum
 * honest: 7 cluster kernel
 * needs: device
 */
#include <cooperative_groups.h>
#include <stdint.h>
__global__ void __cluster_dims__(4, 1, 1) all(const float *X, double *total, int64_t N)
{
    __shared__ double mine[256], block;
    cooperative_groups::cluster_group cluster = cooperative_groups::this_cluster();
    double sum = 0;
    for (int64_t i = (int64_t)blockIdx.x * 256 + threadIdx.x; i < N; i += (int64_t)gridDim.x * 256)
        sum += X[i];
    mine[threadIdx.x] = sum;
    __syncthreads();
    for (int k = 128; k > 0; k /= 2) {
        if (threadIdx.x < k)
            mine[threadIdx.x] += mine[threadIdx.x + k];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        block = mine[0];
    cluster.sync();
    if (cluster.block_rank() == 0 && threadIdx.x == 0) {
        sum = 0;
        for (unsigned b = 0; b < cluster.num_blocks(); b++)
            sum += *cluster.map_shared_rank(&block, b);
        atomicAdd(total, sum);
    }
    cluster.sync();
}

__global__ void end(const double *total, float *S)
{
    S[0] = (float)*total;
}

extern "C" void sum(const float *X, float *S, int64_t N, cudaStream_t stream)
{
    double *total;
    cudaMallocAsync((void **)&total, sizeof *total, stream);
    cudaMemsetAsync(total, 0, sizeof *total, stream);
    all<<<256, 256, 0, stream>>>(X, total, N);
    end<<<1, 1, 0, stream>>>(total, S);
    cudaFreeAsync(total, stream);
}
