#include <cuda_bf16.h>
#include <stdint.h>

__global__ void turn(const __nv_bfloat16 *x, __nv_bfloat16 *y, int M, int N)
{
    int n = blockIdx.x * blockDim.x + threadIdx.x;
    int m = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z;
    if (m < M && n < N)
        y[(size_t)z * M * N + (size_t)n * M + m] = x[(size_t)z * M * N + (size_t)m * N + n];
}

extern "C" void turn_batch(const __nv_bfloat16 *X, __nv_bfloat16 *Y, int64_t Z, int64_t M,
                           int64_t N, cudaStream_t stream)
{
    dim3 block(32, 8);
    dim3 grid((unsigned)((N + 31) / 32), (unsigned)((M + 7) / 8), (unsigned)Z);
    turn<<<grid, block, 0, stream>>>(X, Y, (int)M, (int)N);
}
