// Variadic kernels and templates of templates.
// @inputs A
// @outputs C
// @axes N=1000
// | all<...6b63> <<<1, 32>>> (C, 1, 0x40200000, 3)
// | each<...5699> <<<1, 32>>> (C)
// | each<...1cb7> <<<1, 64>>> (C)
// > all<int, float, char>
// > each<Vec<Vec<float> > >
// > each<Vec<Vec<Vec<int> > > >

template <typename... T> __global__ void all(float *out, T... values)
{
    out[0] = (0 + ... + values);
}
template <typename T> struct Vec {
    T v[2];
};
template <typename T> __global__ void each(float *out)
{
    out[0] = sizeof(T);
}

extern "C" void launch(const float *A, float *C, int64_t N, cudaStream_t stream)
{
    all<<<1, 32, 0, stream>>>(C, 1, 2.5f, (char)3);
    each<Vec<Vec<float>>><<<1, 32, 0, stream>>>(C);
    each<Vec<Vec<Vec<int>>>><<<1, 64, 0, stream>>>(C);
}
