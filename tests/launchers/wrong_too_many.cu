// More operations than a plan holds.
// @inputs A
// @outputs C
// @axes N=1000
// @fail too_large: the launcher does more than 4096 operations

__global__ void scale(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i] * 2;
}

extern "C" void launch(const float *A, float *C, int64_t N, cudaStream_t stream)
{
    for (int i = 0; i < 5000; i++)
        scale<<<1, 32, 0, stream>>>(A, C, i);
}
