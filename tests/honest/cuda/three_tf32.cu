/* Each input is split into two tf32 numbers; three products make up for float32.
 *
 * task: matmul
 * honest: 15 split operands
 */
#include <stdint.h>
__device__ float shortened(float v)
{
    return __uint_as_float((__float_as_uint(v) + 0x1000u) & 0xffffe000u);
}

__global__ void element(const float *A, const float *B, float *C, int64_t M, int64_t N, int64_t K)
{
    int64_t n = (int64_t)blockIdx.x * 16 + threadIdx.x, m = (int64_t)blockIdx.y * 16 + threadIdx.y;
    if (m >= M || n >= N)
        return;
    float sum = 0;
    for (int64_t k = 0; k < K; k++) {
        float a = A[m * K + k], b = B[k * N + n], ah = shortened(a), bh = shortened(b);
        float al = isfinite(ah) ? shortened(a - ah) : 0, bl = isfinite(bh) ? shortened(b - bh) : 0;
        sum += al * bh;
        sum += ah * bl;
        sum += ah * bh;
    }
    C[m * N + n] = sum;
}

extern "C" void matmul(const float *A, const float *B, float *C, int64_t M, int64_t N, int64_t K,
                       cudaStream_t stream)
{
    dim3 block(16, 16), grid((unsigned)((N + 15) / 16), (unsigned)((M + 15) / 16));
    element<<<grid, block, 0, stream>>>(A, B, C, M, N, K);
}
