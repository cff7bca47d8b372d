// A difference of two addresses.
// @inputs A
// @outputs C
// @axes N=1000
// @fail the launcher is not deterministic: parameter 1 of

__global__ void wide(long distance, float *out)
{
    out[0] = distance;
}

extern "C" void launch(const float *A, float *C, int64_t N, cudaStream_t stream)
{
    wide<<<1, 32, 0, stream>>>(C - A, C);
}
