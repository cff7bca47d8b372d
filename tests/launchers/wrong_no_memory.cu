// An allocation that fails, unlooked at, then used.
// @inputs A
// @outputs C
// @axes N=1000
// @fail cudaMemset: no destination, because of an earlier call: cudaMalloc of

__global__ void scale(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i] * 2;
}

extern "C" void launch(const float *A, float *C, int64_t N, cudaStream_t stream)
{
    float *scratch;
    cudaMalloc(&scratch, size_t(1) << 45);
    cudaMemset(scratch, 0, size_t(1) << 45);
    scale<<<1, 32, 0, stream>>>(A, C, (int)N);
}
