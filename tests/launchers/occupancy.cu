// Block size and grid from the occupancy API; properties of the device.
// @inputs A
// @outputs C
// @axes N=1000
// | scale <<<264, 256>>> (A, C, 1000)
// | scale <<<264, 1024>>> (A, C, 9)

__global__ void scale(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i] * 2;
}

extern "C" void launch(const float *A, float *C, int64_t N, cudaStream_t stream)
{
    int block = 0, least = 0;
    cudaDeviceProp prop;
    cudaOccupancyMaxPotentialBlockSize(&least, &block, scale, 0, 256);
    cudaGetDeviceProperties(&prop, 0);
    scale<<<least, block, 0, stream>>>(A, C, N);
    scale<<<2 * prop.multiProcessorCount, prop.maxThreadsPerBlock, 0, stream>>>(A, C, prop.major);
}
