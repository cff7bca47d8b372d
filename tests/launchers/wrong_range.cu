// An axis that does not fit.
// @inputs A
// @outputs C
// @axes N=4294967296
// @fail N = 4294967296 (workload w1) does not fit parameter 3 'int n' of scale. fix: declare 'long long n'

__global__ void scale(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i] * 2;
}

extern "C" void launch(const float *A, float *C, int64_t N, cudaStream_t stream)
{
    scale<<<1, 32, 0, stream>>>(A, C, N);
}
