// exit() over an error.
// @inputs A
// @outputs C
// @axes N=1000
// @fail exited: the launcher ended its process (exit status 3) after cudaFuncSetAttribute(scale, MaxDynamicSharedMemorySize, 300000): at most 232448 (workload w1)

#include <cstdio>
__global__ void scale(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i] * 2;
}

extern "C" void launch(const float *A, float *C, int64_t N, cudaStream_t stream)
{
    cudaError_t e = cudaFuncSetAttribute(scale, cudaFuncAttributeMaxDynamicSharedMemorySize, 300000);
    if (e != cudaSuccess) {
        fprintf(stderr, "no: %s\n", cudaGetErrorString(e));
        exit(3);
    }
}
