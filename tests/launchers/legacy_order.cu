// A blocking stream is ordered with what is launched on stream 0.
// @inputs A
// @outputs C
// @axes N=1000
// | scale <<<1, 32>>> (A, C, 1)
// | scale <<<1, 64>>> (A, C, 2)
// | scale <<<1, 96>>> (A, C, 3)

__global__ void scale(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i] * 2;
}

extern "C" void launch(const float *A, float *C, int64_t N, cudaStream_t stream)
{
    cudaStream_t side;
    cudaStreamCreate(&side);
    scale<<<1, 32>>>(A, C, 1);
    scale<<<1, 64, 0, side>>>(A, C, 2);
    scale<<<1, 96>>>(A, C, 3);
}
