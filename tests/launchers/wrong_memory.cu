// A memory bomb.
// @inputs A
// @outputs C
// @axes N=1000
// @fail crash: the launcher was killed by signal 6 (Aborted)

__global__ void scale(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i] * 2;
}

extern "C" void launch(const float *A, float *C, int64_t N, cudaStream_t stream)
{
    for (;;)
        *new char[64 << 20] = 1;
}
