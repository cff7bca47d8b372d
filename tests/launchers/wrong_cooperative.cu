// A cooperative grid of no size.
// @inputs A
// @outputs C
// @axes N=1000
// @fail needs 3 arguments

__global__ void scale(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i] * 2;
}

extern "C" void launch(const float *A, float *C, int64_t N, cudaStream_t stream)
{
    cudaLaunchCooperativeKernel((void *)scale, dim3(4), dim3(256), nullptr, 0, stream);
    if (cudaGetLastError() != cudaSuccess)
        exit(1);
}
