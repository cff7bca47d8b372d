// A memset of an input.
// @inputs A
// @outputs C
// @axes N=1000
// @fail memset: writes input 1

__global__ void scale(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i] * 2;
}

extern "C" void launch(const float *A, float *C, int64_t N, cudaStream_t stream)
{
    cudaMemsetAsync((void *)A, 0, 4, stream);
}
