// Static kernels and kernels of an anonymous namespace.
// @inputs A
// @outputs C
// @axes N=1000
// | hidden <<<1, 32>>> (C, 1)
// | secret <<<1, 32>>> (C, 2)
// > hidden
// > secret

static __global__ void hidden(float *out, int n)
{
    out[0] = n;
}
namespace {
__global__ void secret(float *out, int n)
{
    out[0] = n;
}
}

extern "C" void launch(const float *A, float *C, int64_t N, cudaStream_t stream)
{
    hidden<<<1, 32, 0, stream>>>(C, 1);
    secret<<<1, 32, 0, stream>>>(C, 2);
}
