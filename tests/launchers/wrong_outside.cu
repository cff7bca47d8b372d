// A copy beyond a buffer.
// @inputs A
// @outputs C
// @axes N=1000
// @fail of a buffer of 1048576 bytes

__global__ void scale(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i] * 2;
}

extern "C" void launch(const float *A, float *C, int64_t N, cudaStream_t stream)
{
    cudaMemcpyAsync(C, A, 2 << 20, cudaMemcpyDeviceToDevice, stream);
}
