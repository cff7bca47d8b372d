// Parameters without names, qualifiers everywhere.
// @inputs A
// @outputs C
// @axes N=1000
// | odd <<<1, 32>>> (A, C, 1, 2, 0x40400000, {4 5 6})

__global__ void odd(const float *const __restrict__ in, float *, unsigned, const int k, float = 1, dim3 d = dim3(1))
{
}

extern "C" void launch(const float *A, float *C, int64_t N, cudaStream_t stream)
{
    odd<<<1, 32, 0, stream>>>(A, C, 1, 2, 3.0f, dim3(4, 5, 6));
}
