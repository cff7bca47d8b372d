// Preprocessor conditions inside of kernels and launchers.
// @inputs A
// @outputs C
// @axes N=1000
// | scale <<<1, 32>>> (A, C, 1)
// | scale <<<3, 64>>> (A, C, 3)

#define USE_SCALE 1
__global__ void scale(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i] * 2;
}

extern "C" void launch(const float *A, float *C, int64_t N, cudaStream_t stream)
{
#if defined(USE_SCALE) && USE_SCALE
    scale<<<1, 32, 0, stream>>>(A, C, 1);
#else
    scale<<<2, 32, 0, stream>>>(A, C, 2);
#endif
    scale<<<3,
#ifdef USE_SCALE
            64,
#endif
            0, stream>>>(A, C, 3);
}
