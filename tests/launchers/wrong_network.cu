// A socket.
// @inputs A
// @outputs C
// @axes N=1000
// @fail forbidden: the launcher made a system call that is not allowed

#include <sys/socket.h>
__global__ void scale(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i] * 2;
}

extern "C" void launch(const float *A, float *C, int64_t N, cudaStream_t stream)
{
    socket(AF_INET, SOCK_STREAM, 0);
}
