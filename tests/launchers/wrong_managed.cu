// Managed memory.
// @inputs A
// @outputs C
// @axes N=1000
// @fail cudaMallocManaged: memory that host and device share is not supported

__global__ void scale(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i] * 2;
}

extern "C" void launch(const float *A, float *C, int64_t N, cudaStream_t stream)
{
    float *both;
    cudaMallocManaged(&both, 100);
}
