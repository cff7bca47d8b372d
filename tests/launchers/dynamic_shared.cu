// extern __shared__, raised limit, carveout.
// @inputs A
// @outputs C
// @axes N=1000
// | tile<float> <<<2, 128>>> shared 98304 (A, C)
// | tile<int> <<<2, 128>>> shared 49152 (A, C)
// > tile<float>
// > tile<int>

extern __shared__ char buffer[];
template <typename T> __global__ void __launch_bounds__(128, 2) tile(const T *in, T *out)
{
    T *mine = reinterpret_cast<T *>(buffer);
    mine[threadIdx.x] = in[0];
    out[0] = mine[0];
}

extern "C" void launch(const float *A, float *C, int64_t N, cudaStream_t stream)
{
    int bytes = 96 * 1024;
    cudaFuncSetAttribute(tile<float>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    cudaFuncSetAttribute(tile<float>, cudaFuncAttributePreferredSharedMemoryCarveout, 100);
    tile<float><<<2, 128, bytes, stream>>>(A, C);
    tile<int><<<2, 128, 48 * 1024, stream>>>((const int *)A, (int *)C);
}
