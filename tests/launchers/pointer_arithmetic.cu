// Pointers before, inside and behind a buffer; pointers as integers; null.
// @inputs A
// @outputs C
// @axes N=1000
// | walk <<<1, 32>>> (A-64, C+4000, C+8, 0)

__global__ void walk(const float *in, float *out, unsigned long address, float *none)
{
    if (!none)
        out[-1] = in[16] + address;
}

extern "C" void launch(const float *A, float *C, int64_t N, cudaStream_t stream)
{
    walk<<<1, 32, 0, stream>>>(A - 16, C + N, (uintptr_t)(C + 2), nullptr);
}
