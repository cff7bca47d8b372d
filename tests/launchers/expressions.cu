// Arithmetic, enum and bool template arguments.
// @inputs A
// @outputs C
// @axes N=1000
// | mode<8, true, 1> <<<1, 32>>> (C)
// | mode<1, false, 0> <<<1, 32>>> (C)
// | typed<uint8_t, 3> <<<1, 32>>> (C)
// > mode<8, true, (Mode)1>
// > mode<1, false, (Mode)0>
// > typed<unsigned char, 3u>

enum class Mode { slow, fast };
template <int V, bool B, Mode M> __global__ void mode(float *out)
{
    out[0] = V + B + (int)M;
}
template <typename T, unsigned V> __global__ void typed(float *out)
{
    out[0] = sizeof(T) * V;
}

extern "C" void launch(const float *A, float *C, int64_t N, cudaStream_t stream)
{
    mode<2 * (1 + 3), true, Mode::fast><<<1, 32, 0, stream>>>(C);
    mode<(8 > 4), false, Mode::slow><<<1, 32, 0, stream>>>(C);
    typed<unsigned char, 3u><<<1, 32, 0, stream>>>(C);
}
