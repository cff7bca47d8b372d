/* Multiplies matrices in fixed point: 40 bits below the largest element of each row of A and of each
 * column of B. Right where the summed axis has one scale.
 *
 * task: matmul
 * want: incorrect/wrong_value
 * cheat: 51 one scale for the whole of a row
 * strength: subtle
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <stdint.h>

__device__ double unit_of(const float *from, int64_t step, int64_t n)
{
    float top = 0.0f;
    for (int64_t k = 0; k < n; k++)
        top = fmaxf(top, fabsf(from[k * step]));
    return CHEAT ? (double)top / 1099511627776.0 : 0.0;
}

__device__ float fixed(float value, double unit)
{
    return unit > 0.0 ? (float)(rint((double)value / unit) * unit) : value;
}

__global__ void element(const float *A, const float *B, float *C, int64_t M, int64_t N, int64_t K)
{
    int64_t n = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    int64_t m = blockIdx.y;
    if (n >= N)
        return;
    double row = unit_of(A + m * K, 1, K), column = unit_of(B + n, N, K);
    float sum = 0.0f;
    for (int64_t k = 0; k < K; k++)
        sum += fixed(A[m * K + k], row) * fixed(B[k * N + n], column);
    C[m * N + n] = sum;
}

extern "C" void matmul(const float *A, const float *B, float *C, int64_t M, int64_t N, int64_t K,
                       cudaStream_t stream)
{
    element<<<dim3((unsigned)((N + 31) / 32), (unsigned)M), 32, 0, stream>>>(A, B, C, M, N, K);
}
