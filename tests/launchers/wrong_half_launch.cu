// A launch in two macros.
// @inputs A
// @outputs C
// @axes N=1000
// @fail no >>>(arguments) belongs to this <<<

#define CONFIG(g, b) <<<g, b>>>
__global__ void scale(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i] * 2;
}

extern "C" void launch(const float *A, float *C, int64_t N, cudaStream_t stream)
{
    scale CONFIG(1, 32)(A, C, N);
}
