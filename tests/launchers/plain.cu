// No stream argument, everything default.
// @inputs A
// @outputs C
// @axes N=1000
// | scale <<<4, 256>>> (A, C, 1000)

__global__ void scale(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i] * 2;
}

extern "C" void launch(const float *A, float *C, int64_t N, cudaStream_t stream)
{
    scale<<<(N + 255) / 256, 256>>>(A, C, N);
}
