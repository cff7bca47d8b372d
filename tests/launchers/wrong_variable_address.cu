// A device variable's address taken on the host.
// @inputs A
// @outputs C
// @axes N=1000
// @fail let the kernel name the variable, or use cudaGetSymbolAddress

__device__ float table[4];
__global__ void scale(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i] * 2;
}

extern "C" void launch(const float *A, float *C, int64_t N, cudaStream_t stream)
{
    scale<<<1, 32, 0, stream>>>(table, C, 4);
}
