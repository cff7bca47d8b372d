// constexpr sizes in struct and namespace, braces as dim3.
// @inputs A
// @outputs C
// @axes N=1000
// | scale <<<(2, 3), 64>>> shared 256 (A, C, 1000)
// | scale <<<1000, (8, 4, 2)>>> (A, C, 1000)

__global__ void scale(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i] * 2;
}
struct Config {
    static constexpr int threads = 64;
    template <typename T> static constexpr int shared() { return threads * sizeof(T); }
};

extern "C" void launch(const float *A, float *C, int64_t N, cudaStream_t stream)
{
    scale<<<{2, 3}, {Config::threads}, Config::shared<float>(), stream>>>(A, C, N);
    constexpr dim3 block{8, 4, 2};
    scale<<<dim3{(unsigned)N}, block, 0, stream>>>(A, C, N);
}
