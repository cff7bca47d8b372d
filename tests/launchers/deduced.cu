// Template arguments that the compiler finds; overloads; a default argument.
// @inputs A
// @outputs C
// @axes N=1000
// | add<float> <<<4, 256>>> (A, C, 1000, 7)
// | pick <<<1, 32>>> (C, 1)
// | pick <<<1, 32>>> (C, 0x3fc00000)
// > add<float>

template <typename T>
__global__ void add(const T *in, T *out, int n, int step = 7)
{
    out[threadIdx.x] += in[threadIdx.x * step % n];
}
__global__ void pick(float *out, int value)
{
    out[0] = value;
}
__global__ void pick(float *out, float value)
{
    out[1] = value;
}

extern "C" void launch(const float *A, float *C, int64_t N, cudaStream_t stream)
{
    add<<<4, 256, 0, stream>>>(A, C, (int)N);
    pick<<<1, 32, 0, stream>>>(C, 1);
    pick<<<1, 32, 0, stream>>>(C, 1.5f);
}
