// Too many bytes from the host.
// @inputs A
// @outputs C
// @axes N=1000
// @fail more than 65536 bytes are copied from the host

__global__ void scale(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i] * 2;
}

extern "C" void launch(const float *A, float *C, int64_t N, cudaStream_t stream)
{
    static float table[20000];
    cudaMemcpyAsync(C, table, sizeof table, cudaMemcpyHostToDevice, stream);
}
