// Kernels in variables, arrays and function results.
// @inputs A
// @outputs C
// @axes N=1000
// | scale <<<1, 32>>> (A, C, 1)
// | scale <<<2, 32>>> (A, C, 2)
// | wide<4> <<<3, 32>>> (A, C, 3)
// | wide<8> <<<4, 32>>> (A, C, 4)
// | wide<2> <<<5, 32>>> (A, C, 5)
// > wide<4>
// > wide<8>
// > wide<2>

__global__ void scale(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i] * 2;
}
template <int V>
__global__ void wide(const float *in, float *out, int n)
{
    out[0] = in[0] * V + n;
}
typedef void (*kernel_t)(const float *, float *, int);
static kernel_t choose(bool is_wide)
{
    return is_wide ? wide<8> : scale;
}
struct Box {
    kernel_t kernel;
};

extern "C" void launch(const float *A, float *C, int64_t N, cudaStream_t stream)
{
    auto kernel = scale;
    void (*table[])(const float *, float *, int) = {scale, wide<4>};
    kernel<<<1, 32, 0, stream>>>(A, C, 1);
    table[N % 2]<<<2, 32, 0, stream>>>(A, C, 2);
    (*table[1])<<<3, 32, 0, stream>>>(A, C, 3);
    choose(true)<<<4, 32, 0, stream>>>(A, C, 4);
    Box box{wide<2>};
    box.kernel<<<5, 32, 0, stream>>>(A, C, 5);
}
