#include <cuda_runtime.h>
#include <cstdint>
extern __shared__ float tile[];
__global__ void k(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[threadIdx.x + 0] = i < n ? x[i] : 0;
    __syncthreads();
    if (i < n)
        y[i] = tile[threadIdx.x + 0];
}
extern "C" void steady(const float *x, float *y, float one, float zero, int64_t N, int64_t R, cudaStream_t stream)
{
    int bytes = 228 * 1024;
    cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    k<<<(unsigned)((N + 127) / 128), 128, bytes, stream>>>(x, y, (int)N);
}
