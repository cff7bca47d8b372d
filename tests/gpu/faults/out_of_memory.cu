#include <cuda_runtime.h>
#include <cstdint>
__global__ void k(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i];
}
extern "C" void steady(const float *x, float *y, float one, float zero, int64_t N, int64_t R, cudaStream_t stream)
{
    void *scratch = nullptr;
    cudaMallocAsync(&scratch, size_t(1) << 40, stream);
    cudaMemsetAsync(scratch, 0, size_t(1) << 40, stream);
    k<<<(unsigned)((N + 127) / 128), 128, 0, stream>>>(x, y, (int)N);
    cudaFreeAsync(scratch, stream);
}
