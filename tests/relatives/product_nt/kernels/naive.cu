#include <cuda_bf16.h>
#include <stdint.h>

__global__ void product(const __nv_bfloat16 *a, const __nv_bfloat16 *b, __nv_bfloat16 *c, int64_t M,
                        int64_t N, int64_t K)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= M * N)
        return;
    int64_t m = i / N;
    int64_t n = i % N;
    float sum = 0;
    for (int64_t k = 0; k < K; k++) {
        float x = __bfloat162float(a[m * K + k]);
        float y = __bfloat162float(b[n * K + k]);
        sum += x * y;
    }
    c[i] = __float2bfloat16(sum);
}

extern "C" void product_nt(const __nv_bfloat16 *A, const __nv_bfloat16 *B, __nv_bfloat16 *C,
                           int64_t M, int64_t N, int64_t K, cudaStream_t stream)
{
    int64_t n = M * N;
    product<<<(unsigned)((n + 255) / 256), 256, 0, stream>>>(A, B, C, M, N, K);
}
