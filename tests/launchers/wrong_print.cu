// A flood of output.
// @inputs A
// @outputs C
// @axes N=1000
// @fail the launcher printed more than

#include <cstdio>
__global__ void scale(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i] * 2;
}

extern "C" void launch(const float *A, float *C, int64_t N, cudaStream_t stream)
{
    for (;;)
        puts("0123456789012345678901234567890123456789012345678901234567890123456789");
}
