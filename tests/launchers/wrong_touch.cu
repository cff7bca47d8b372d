// Device memory read on the host.
// @inputs A
// @outputs C
// @axes N=1000
// @fail crash: the launcher reads or writes 'A' on the host (offset 40): device memory cannot be seen while launching

__global__ void scale(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i] * 2;
}

extern "C" void launch(const float *A, float *C, int64_t N, cudaStream_t stream)
{
    scale<<<(int)A[10], 32, 0, stream>>>(A, C, N);
}
