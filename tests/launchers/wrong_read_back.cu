// Results copied to the host.
// @inputs A
// @outputs C
// @axes N=1000
// @fail cudaMemcpy copies 'C' to the host

__global__ void scale(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i] * 2;
}

extern "C" void launch(const float *A, float *C, int64_t N, cudaStream_t stream)
{
    float first;
    scale<<<1, 32, 0, stream>>>(A, C, N);
    cudaMemcpy(&first, C, 4, cudaMemcpyDeviceToHost);
    if (first > 0)
        scale<<<1, 32, 0, stream>>>(A, C, N);
}
