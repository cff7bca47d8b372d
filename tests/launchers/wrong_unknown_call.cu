// A call that is not recorded.
// @inputs A
// @outputs C
// @axes N=1000
// @fail cudaGraphCreate in the launcher needs nvcc: it is no part of what is recorded

__global__ void scale(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i] * 2;
}

extern "C" void launch(const float *A, float *C, int64_t N, cudaStream_t stream)
{
    cudaGraph_t graph;
    cudaGraphCreate(&graph, 0);
}
