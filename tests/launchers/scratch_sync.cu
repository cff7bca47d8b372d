// cudaMalloc and cudaFree with synchronise calls, static scratch.
// @inputs A
// @outputs C
// @axes N=1000
// | scale <<<4, 256>>> (A, scratch1, 1000)
// | copy 4000 bytes to tensor 1 from scratch 1
// | scale <<<1, 256>>> (scratch1, scratch0, 1)

__global__ void scale(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i] * 2;
}

extern "C" void launch(const float *A, float *C, int64_t N, cudaStream_t stream)
{
    static float *partial = nullptr;
    float *temporary;
    if (!partial)
        cudaMalloc(&partial, 4096);
    cudaMalloc((void **)&temporary, N * sizeof(float));
    scale<<<4, 256>>>(A, temporary, N);
    cudaDeviceSynchronize();
    cudaMemcpy(C, temporary, N * sizeof(float), cudaMemcpyDeviceToDevice);
    scale<<<1, 256>>>(temporary, partial, 1);
    cudaStreamSynchronize(0);
    cudaFree(temporary);
}
