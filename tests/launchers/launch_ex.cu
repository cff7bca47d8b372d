// cudaLaunchKernelExC and cudaLaunchKernelEx with cluster and programmatic attributes.
// @inputs A
// @outputs C
// @axes N=1000
// | scale <<<8, 128>>> shared 1024 cluster 2 (A, C, 1000)
// | scale <<<8, 128>>> shared 1024 cluster 2 programmatic (A, C, 1000)

__global__ void scale(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i] * 2;
}

extern "C" void launch(const float *A, float *C, int64_t N, cudaStream_t stream)
{
    cudaLaunchAttribute attrs[2] = {};
    attrs[0].id = cudaLaunchAttributeClusterDimension;
    attrs[0].val.clusterDim.x = 2;
    attrs[0].val.clusterDim.y = 1;
    attrs[0].val.clusterDim.z = 1;
    attrs[1].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attrs[1].val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(8);
    config.blockDim = dim3(128);
    config.dynamicSmemBytes = 1024;
    config.stream = stream;
    config.attrs = attrs;
    config.numAttrs = 1;
    int n = (int)N;
    void *args[] = {&A, &C, &n};
    cudaLaunchKernelExC(&config, (const void *)scale, args);
    config.numAttrs = 2;
    cudaLaunchKernelEx(&config, scale, A, C, n);
}
