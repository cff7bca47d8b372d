// Children of children.
// @inputs A
// @outputs C
// @axes N=1000
// @fail exited

#include <unistd.h>
__global__ void scale(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i] * 2;
}

extern "C" void launch(const float *A, float *C, int64_t N, cudaStream_t stream)
{
    for (int i = 0; i < 1000; i++)
        if (fork() == 0)
            pause();
    _exit(1);
}
