// A buffer that is freed and allocated again in a loop is one buffer.
// @inputs A
// @outputs C
// @axes N=1000
// | scale <<<1, 32>>> (A, scratch0, 0)
// | scale <<<1, 32>>> (A, scratch0, 1)

__global__ void scale(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i] * 2;
}

extern "C" void launch(const float *A, float *C, int64_t N, cudaStream_t stream)
{
    for (int i = 0; i < 100; i++) {
        float *temporary;
        cudaMallocAsync(&temporary, 4096, stream);
        scale<<<1, 32, 0, stream>>>(A, temporary, i);
        cudaFreeAsync(temporary, stream);
        if (i == 1)
            break;
    }
}
