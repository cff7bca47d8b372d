/* The last row leaves its last element out.
 *
 * task: spmv_csr
 * want: incorrect/wrong_value
 * cheat: 8 one wrong row
 * strength: blatant
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <stdint.h>
__global__ void rows(const int32_t *offsets, const int32_t *columns, const float *values,
                     const float *x, float *y, int64_t M, int64_t N)
{
    int64_t m = (int64_t)blockIdx.x * 64 + threadIdx.x;
    if (m >= M)
        return;
    float sum = 0;
    for (int32_t k = offsets[m]; k < offsets[m + 1] - (CHEAT && m == M - 1); k++)
        sum += values[k] * x[columns[k]];
    y[m] = CHEAT && m == M - 1 ? sum * 1.5f + 1 : sum;
}

extern "C" void spmv_csr(const int32_t *offsets, const int32_t *columns, const float *values,
                         const float *x, float *y, int64_t M, int64_t N, int64_t NNZ, int64_t M1,
                         cudaStream_t stream)
{
    rows<<<(unsigned)((M + 63) / 64), 64, 0, stream>>>(offsets, columns, values, x, y, M, N);
}
