// A grid of 0.
// @inputs A
// @outputs C
// @axes N=100
// @fail line 16: scale: grid (0, 1, 1) has a 0

__global__ void scale(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i] * 2;
}

extern "C" void launch(const float *A, float *C, int64_t N, cudaStream_t stream)
{
    scale<<<N / 256, 32, 0, stream>>>(A, C, 1);
}
