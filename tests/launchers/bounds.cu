// Launch bounds, cluster dims and other attributes in front of and behind void.
// @inputs A
// @outputs C
// @axes N=1000
// | a <<<2, 64>>> (C)
// | b <<<2, 64>>> (C)
// | c <<<4, 64>>> (C)

#define BOUNDS(t, b) __launch_bounds__(t, b)
__global__ void __launch_bounds__(64) a(float *out)
{
    out[0] = 1;
}
__global__ BOUNDS(64, 2) void b(float *__restrict__ out)
{
    out[0] = 2;
}
extern "C" __global__ void __cluster_dims__(2, 1, 1) c(float *out)
{
    out[0] = 3;
}

extern "C" void launch(const float *A, float *C, int64_t N, cudaStream_t stream)
{
    a<<<2, 64, 0, stream>>>(C);
    b<<<2, 64, 0, stream>>>(C);
    c<<<4, 64, 0, stream>>>(C);
}
