// cudaLaunchKernel with an array of arguments, typed and as void pointer.
// @inputs A
// @outputs C
// @axes N=1000
// | axpy <<<4, 256>>> (A, C, 1000, 0x3fc00000)
// | axpy <<<1, 32>>> shared 128 (A, C, 1000, 0x3fc00000)

__global__ void axpy(const float *x, float *y, int n, float alpha)
{
    y[0] += alpha * x[n - 1];
}

extern "C" void launch(const float *A, float *C, int64_t N, cudaStream_t stream)
{
    int n = (int)N;
    float alpha = 1.5f;
    void *args[] = {&A, &C, &n, &alpha};
    cudaLaunchKernel(axpy, dim3(4), dim3(256), args, 0, stream);
    cudaLaunchKernel((const void *)axpy, 1, 32, args, 128, stream);
}
