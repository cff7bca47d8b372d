// A path chosen by alignment of addresses and sizes.
// @inputs A
// @outputs C
// @axes N=1000
// | scale <<<1, 64>>> (A, C, 250)

__global__ void scale(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i] * 2;
}

extern "C" void launch(const float *A, float *C, int64_t N, cudaStream_t stream)
{
    if (((uintptr_t)A | (uintptr_t)C) % 16 == 0 && N % 4 == 0)
        scale<<<1, 64, 0, stream>>>((const float *)(const float4 *)A, C, N / 4);
    else
        scale<<<1, 32, 0, stream>>>(A, C, N);
}
