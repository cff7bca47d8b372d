// Memsets of outputs and scratch, two-dimensional and empty ones.
// @inputs A
// @outputs C
// @axes N=1000
// | memset 4000 bytes to tensor 1
// | memset 400 bytes of 0xff to scratch 0
// | memset 400 bytes of 0xff to scratch 0 + 512
// | memset 400 bytes of 0xff to scratch 0 + 1024
// | memset 4 bytes of 0x1 to tensor 1 + 4
// | scale <<<1, 32>>> (scratch0, C, 1000)

__global__ void scale(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i] * 2;
}

extern "C" void launch(const float *A, float *C, int64_t N, cudaStream_t stream)
{
    float *rows;
    size_t pitch;
    cudaMemsetAsync(C, 0, N * sizeof(float), stream);
    cudaMallocPitch(&rows, &pitch, 100 * sizeof(float), 3);
    cudaMemset2DAsync(rows, pitch, 0xff, 100 * sizeof(float), 3, stream);
    cudaMemset(C + 1, 1, 4);
    cudaMemsetAsync(C, 0, 0, stream);
    scale<<<1, 32, 0, stream>>>(rows, C, N);
}
