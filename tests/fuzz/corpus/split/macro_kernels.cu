// Kernels and their launchers made by a macro; a macro as head of a kernel.
// @inputs A
// @outputs C
// @axes N=1000
// | neg_kernel <<<16, 64>>> (A, C, 1000)
// | root_kernel <<<16, 64>>> (C, C, 1000)
// | copy1 <<<1, 64>>> (A, C, 3)

#define DEFINE(NAME, EXPR)                                                       \
    __global__ void NAME##_kernel(const float *x, float *y, int n)                \
    {                                                                             \
        int i = blockIdx.x * blockDim.x + threadIdx.x;                            \
        if (i < n)                                                                \
            y[i] = EXPR;                                                          \
    }                                                                             \
    static void launch_##NAME(const float *x, float *y, int n, cudaStream_t s)     \
    {                                                                             \
        NAME##_kernel<<<(n + 63) / 64, 64, 0, s>>>(x, y, n);                      \
    }
DEFINE(neg, -x[i])
DEFINE(root, sqrtf(x[i]))
#define KERNEL1(name) __global__ void name(const float *in, float *out, int count)
KERNEL1(copy1)
{
    out[threadIdx.x] = in[threadIdx.x] * count;
}

extern "C" void launch(const float *A, float *C, int64_t N, cudaStream_t stream)
{
    launch_neg(A, C, N, stream);
    launch_root(C, C, N, stream);
    copy1<<<1, 64, 0, stream>>>(A, C, 3);
}
