// Two kernels of one name in namespaces; a namespace alias; nested ones.
// @inputs A
// @outputs C
// @axes N=1000
// | one::fill <<<1, 32>>> (C)
// | two::inner::fill <<<1, 64>>> (C)
// | two::inner::many<3> <<<1, 96>>> (C)
// > two::inner::many<3>

namespace one {
__global__ void fill(float *out)
{
    out[0] = 1;
}
}
namespace two::inner {
__global__ void fill(float *out)
{
    out[0] = 2;
}
template <int V> __global__ void many(float *out)
{
    out[0] = V;
}
}

extern "C" void launch(const float *A, float *C, int64_t N, cudaStream_t stream)
{
    one::fill<<<1, 32, 0, stream>>>(C);
    ::two::inner::fill<<<1, 64, 0, stream>>>(C);
    namespace t = two::inner;
    t::many<3><<<1, 96, 0, stream>>>(C);
}
