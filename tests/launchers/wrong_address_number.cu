// An address as a number.
// @inputs A
// @outputs C
// @axes N=1000
// @fail the launcher is not deterministic: parameter 3 of

__global__ void scale(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i] * 2;
}

extern "C" void launch(const float *A, float *C, int64_t N, cudaStream_t stream)
{
    scale<<<1, 32, 0, stream>>>(A, C, (int)((uintptr_t)A >> 8));
}
