/* Rows of a sparse matrix by warps: another order of additions.
 *
 * task: spmv_csr
 * honest: 20 algebraically the same
 */
#include <stdint.h>
__global__ void rows(const int32_t *offsets, const int32_t *columns, const float *values,
                     const float *x, float *y, int64_t M)
{
    int64_t m = (int64_t)blockIdx.x * 4 + threadIdx.x / 32;
    int lane = (int)threadIdx.x % 32;
    float sum = 0;
    if (m >= M)
        return;
    for (int32_t k = offsets[m] + lane; k < offsets[m + 1]; k += 32)
        sum += values[k] * x[columns[k]];
    for (int k = 16; k > 0; k /= 2)
        sum += __shfl_down_sync(0xffffffffu, sum, k);
    if (lane == 0)
        y[m] = sum;
}

extern "C" void spmv_csr(const int32_t *offsets, const int32_t *columns, const float *values,
                         const float *x, float *y, int64_t M, int64_t N, int64_t NNZ, int64_t M1,
                         cudaStream_t stream)
{
    rows<<<(unsigned)((M + 3) / 4), 128, 0, stream>>>(offsets, columns, values, x, y, M);
}
