// A persistent grid from the number of SMs, found once.
// @inputs A
// @outputs C
// @axes N=1000
// | scale <<<132, 512>>> (A, C, 1000)
// | scale <<<132, 512>>> (A, C, 1000)

__global__ void scale(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i] * 2;
}
static int count()
{
    int device = 0, n = 0;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&n, cudaDevAttrMultiProcessorCount, device);
    return n;
}
static const int global_sms = count();

extern "C" void launch(const float *A, float *C, int64_t N, cudaStream_t stream)
{
    static const int sms = count();
    scale<<<sms, 512, 0, stream>>>(A, C, N);
    scale<<<global_sms, 512, 0, stream>>>(A, C, N);
}
