// An endless loop.
// @inputs A
// @outputs C
// @axes N=1000
// @fail timeout: the launcher did not return within 1000 ms

__global__ void scale(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i] * 2;
}

extern "C" void launch(const float *A, float *C, int64_t N, cudaStream_t stream)
{
    for (volatile int i = 0;; i = i + 1)
        ;
}
