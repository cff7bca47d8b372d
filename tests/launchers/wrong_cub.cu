// Host code that makes device code.
// @inputs A
// @outputs C
// @axes N=1000
// @fail line 17: cub::DeviceReduce in the launcher needs nvcc

#include <cub/cub.cuh>
__global__ void scale(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i] * 2;
}

extern "C" void launch(const float *A, float *C, int64_t N, cudaStream_t stream)
{
    cub::DeviceReduce::Sum(nullptr, N, A, C, N);
}
