// An address of the host as argument.
// @inputs A
// @outputs C
// @axes N=1000
// @fail parameter 1 'const float *in' of scale is an address in host memory

__global__ void scale(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i] * 2;
}

extern "C" void launch(const float *A, float *C, int64_t N, cudaStream_t stream)
{
    float here[4] = {1, 2, 3, 4};
    scale<<<1, 32, 0, stream>>>(here, C, 4);
}
