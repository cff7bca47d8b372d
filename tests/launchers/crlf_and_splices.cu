// Spliced lines and odd blanks.
// @inputs A
// @outputs C
// @axes N=1000
// | scale <<<1, 32>>> (A, C, 1)
// | scale <<<1, 32>>> (A, C, 2)

__global__ void scale(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i] * 2;
}

extern "C" void launch(const float *A, float *C, int64_t N, cudaStream_t stream)
{
    scale \
        <<<1, 32, 0, stream>>> \
        (A, C, 1);
    scale<<< 1,32 >>>( A,C,2 ) ;
}
