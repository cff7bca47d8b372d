// cudaFuncSetAttribute refuses too much shared memory and the launcher falls back.
// @inputs A
// @outputs C
// @axes N=1000
// | scale <<<1, 128>>> shared 208896 (A, C, 1000)

__global__ void scale(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i] * 2;
}

extern "C" void launch(const float *A, float *C, int64_t N, cudaStream_t stream)
{
    int bytes = 300 * 1024;
    while (cudaFuncSetAttribute(scale, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes) != cudaSuccess)
        bytes -= 32 * 1024;
    cudaGetLastError();
    scale<<<1, 128, bytes, stream>>>(A, C, N);
}
