// Launches in both arms of a condition, and behind a comma.
// @inputs A
// @outputs C
// @axes N=1000
// | scale <<<1, 32>>> (A, C, 1)
// | scale <<<4, 32>>> (A, C, 4)
// | scale <<<5, 32>>> (A, C, 5)

__global__ void scale(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i] * 2;
}

extern "C" void launch(const float *A, float *C, int64_t N, cudaStream_t stream)
{
    N > 100 ? scale<<<1, 32, 0, stream>>>(A, C, 1) : scale<<<2, 32, 0, stream>>>(A, C, 2);
    N < 100 ? scale<<<3, 32, 0, stream>>>(A, C, 3) : (scale<<<4, 32, 0, stream>>>(A, C, 4));
    (void)N, scale<<<5, 32, 0, stream>>>(A, C, 5);
}
