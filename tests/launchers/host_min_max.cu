// min, max and ceil on the host, as nvcc has them; a size of another integer type.
// @inputs A
// @outputs C
// @axes N=1000
// | scale <<<2, 128>>> (A, C, 1000)
// | scale <<<3, 32>>> (A, C, 1000)
// | scale <<<4, 32>>> (A, C, 1000)

__global__ void scale(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i] * 2;
}

extern "C" void launch(const float *A, float *C, int64_t N, cudaStream_t stream)
{
    unsigned blocks = min((unsigned)ceil(N / 256.0), 2u);
    scale<<<max(blocks, 1u), min(256, 128), 0, stream>>>(A, C, static_cast<int>(N));
    scale<<<size_t(3), short(32), 0, stream>>>(A, C, N);
    scale<<<ceil(N / 256.0f), 32, 0, stream>>>(A, C, N);
}
