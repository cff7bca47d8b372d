// A library that is not recorded.
// @inputs A
// @outputs C
// @axes N=1000
// @fail cublasHandle_t in the launcher needs nvcc

#include <cublas_v2.h>
__global__ void scale(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i] * 2;
}

extern "C" void launch(const float *A, float *C, int64_t N, cudaStream_t stream)
{
    cublasHandle_t handle;
    cublasCreate(&handle);
}
