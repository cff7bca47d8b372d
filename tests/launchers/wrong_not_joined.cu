// A stream that nobody waits for.
// @inputs A
// @outputs C
// @axes N=1000
// @fail operation 2 runs on a stream of the launcher's own that is not joined

__global__ void scale(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i] * 2;
}

extern "C" void launch(const float *A, float *C, int64_t N, cudaStream_t stream)
{
    cudaStream_t side;
    cudaStreamCreate(&side);
    scale<<<1, 32, 0, stream>>>(A, C, 1);
    scale<<<1, 32, 0, side>>>(A, C, 2);
}
