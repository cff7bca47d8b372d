// A tunable that the source fixes.
// @inputs A
// @outputs C
// @axes N=1000
// @tune TILE=16
// @fail line 8 defines TILE, so tune(TILE: ...) would have no effect. fix: remove line 8

#define TILE 32
__global__ void scale(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i] * 2;
}

extern "C" void launch(const float *A, float *C, int64_t N, cudaStream_t stream)
{
    scale<<<1, TILE, 0, stream>>>(A, C, N);
}
