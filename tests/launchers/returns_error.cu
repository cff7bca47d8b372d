// A launcher whose helpers return errors; error names.
// @inputs A
// @outputs C
// @axes N=1000
// | scale <<<1, 32>>> (A, C, 1000)

__global__ void scale(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i] * 2;
}
#include <cstdlib>
#include <cstring>
static cudaError_t run(const float *A, float *C, int n, cudaStream_t s)
{
    scale<<<1, 32, 0, s>>>(A, C, n);
    if (strcmp(cudaGetErrorName(cudaErrorInvalidValue), "cudaErrorInvalidValue") != 0)
        return cudaErrorUnknown;
    return cudaPeekAtLastError();
}

extern "C" void launch(const float *A, float *C, int64_t N, cudaStream_t stream)
{
    if (run(A, C, (int)N, stream) != cudaSuccess)
        abort();
}
