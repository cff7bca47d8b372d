// A kernel that launches a kernel.
// @inputs A
// @outputs C
// @axes N=1000
// @fail line 15: 'parent' runs on the device and launches a kernel itself

__global__ void scale(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i] * 2;
}
__global__ void parent(const float *in, float *out, int n)
{
    scale<<<1, 32>>>(in, out, n);
}

extern "C" void launch(const float *A, float *C, int64_t N, cudaStream_t stream)
{
    parent<<<1, 32, 0, stream>>>(A, C, N);
}
