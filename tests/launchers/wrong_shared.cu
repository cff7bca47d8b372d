// Dynamic shared memory without asking.
// @inputs A
// @outputs C
// @axes N=1000
// @fail scale asks for 65536 bytes of dynamic shared memory, 49152 are allowed. fix: cudaFuncSetAttribute(scale, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536);

__global__ void scale(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i] * 2;
}

extern "C" void launch(const float *A, float *C, int64_t N, cudaStream_t stream)
{
    scale<<<1, 32, 65536, stream>>>(A, C, N);
}
