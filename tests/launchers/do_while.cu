// Launches in do-while, for headers and behind labels; early return.
// @inputs A
// @outputs C
// @axes N=1000
// @axes N=0
// | w1:
// | scale <<<1, 32>>> (A, C, 1000)
// | scale <<<1, 32>>> (A, C, 100)
// | scale <<<1, 32>>> (A, C, 10)
// | scale <<<9, 32>>> (A, C, 0)
// | w2:
// | nothing

__global__ void scale(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i] * 2;
}

extern "C" void launch(const float *A, float *C, int64_t N, cudaStream_t stream)
{
    if (N == 0)
        return;
    int n = (int)N;
    do {
        scale<<<1, 32, 0, stream>>>(A, C, n);
        n /= 10;
    } while (n > 5);
    for (int i = 0; i < 1; scale<<<9, 32, 0, stream>>>(A, C, i), i++)
        ;
}
