// A grid that does not fit.
// @inputs A
// @outputs C
// @axes N=4294967297
// @fail grid x = 4294967297 (workload w1) does not fit an unsigned int

__global__ void scale(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i] * 2;
}

extern "C" void launch(const float *A, float *C, int64_t N, cudaStream_t stream)
{
    scale<<<N, 32, 0, stream>>>(A, C, 1);
}
