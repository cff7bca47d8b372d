// A recursive template helper and a recursive function.
// @inputs A
// @outputs C
// @axes N=1000
// | step<16> <<<1, 16>>> (A, C)
// | step<8> <<<1, 8>>> (A, C)
// | step<4> <<<1, 4>>> (A, C)
// | scale <<<2, 32>>> (A, C, 2)
// | scale <<<1, 32>>> (A, C, 1)
// > step<16>
// > step<8>
// > step<4>

__global__ void scale(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i] * 2;
}
template <int T> __global__ void step(const float *in, float *out)
{
    out[T] = in[T];
}
template <int T> void halve(const float *A, float *C, cudaStream_t stream)
{
    step<T><<<1, T, 0, stream>>>(A, C);
    if constexpr (T > 4)
        halve<T / 2>(A, C, stream);
}
static void down(const float *A, float *C, int n, cudaStream_t stream)
{
    if (n == 0)
        return;
    scale<<<n, 32, 0, stream>>>(A, C, n);
    down(A, C, n - 1, stream);
}

extern "C" void launch(const float *A, float *C, int64_t N, cudaStream_t stream)
{
    halve<16>(A, C, stream);
    down(A, C, 2, stream);
}
