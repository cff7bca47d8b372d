// A macro that launches, over two lines.
// @inputs A
// @outputs C
// @axes N=1000
// | scale <<<8, 128>>> (A, C, 1000)
// | scale <<<1, 32>>> (A, C, 1)

#define LAUNCH(kernel, grid, block, ...)      \
    do {                                      \
        kernel<<<grid, \
                 block, 0, stream>>>(__VA_ARGS__); \
    } while (0)
__global__ void scale(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i] * 2;
}

extern "C" void launch(const float *A, float *C, int64_t N, cudaStream_t stream)
{
    LAUNCH(scale, (N + 127) / 128, 128, A, C, N);
    if (N > 1)
        LAUNCH(scale, 1, 32, A, C, 1);
    else
        LAUNCH(scale, 2, 32, A, C, 1);
}
