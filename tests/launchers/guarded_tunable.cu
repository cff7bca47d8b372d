// A default that a tunable replaces.
// @inputs A
// @outputs C
// @axes N=1000
// @tune TILE=16
// | scale <<<1, 16>>> (A, C, 1000)

#ifndef TILE
#define TILE TILE
#endif
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
