// Inline assembler, intrinsics and device functions with odd bodies.
// @inputs A
// @outputs C
// @axes N=1000
// | copy <<<1, 32>>> (A, C)

__device__ __forceinline__ void cp_async(void *to, const void *from)
{
    unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(to));
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\n" ::"r"(at), "l"(from));
}
#define WAIT() asm volatile("cp.async.wait_all;\n")
__host__ __device__ inline float both(float x)
{
#ifdef __CUDA_ARCH__
    return __ldg(&x);
#else
    return x;
#endif
}
__global__ void copy(const float *in, float *out)
{
    __shared__ __align__(16) float tile[128];
    cp_async(&tile[4 * threadIdx.x], in + 4 * threadIdx.x);
    WAIT();
    out[threadIdx.x] = both(tile[threadIdx.x]);
}

extern "C" void launch(const float *A, float *C, int64_t N, cudaStream_t stream)
{
    copy<<<1, 32, 0, stream>>>(A, C);
}
