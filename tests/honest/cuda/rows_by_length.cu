/* A warp for each row of a sparse matrix; empty rows are written at once.
 *
 * task: spmv_csr
 * honest: 65 early exit for empty rows */
#include <stdint.h>

__global__ void rows(const int32_t *offsets, const int32_t *columns, const float *values,
                     const float *x, float *y, int64_t M)
{
    int64_t row = (int64_t)blockIdx.x * 4 + threadIdx.x / 32;
    int lane = threadIdx.x % 32;
    if (row >= M)
        return;
    int32_t first = offsets[row], last = offsets[row + 1];
    if (first == last) {
        if (lane == 0)
            y[row] = 0;
        return;
    }
    float sum = 0;
    for (int32_t k = first + lane; k < last; k += 32)
        sum += values[k] * x[columns[k]];
    for (int k = 16; k > 0; k /= 2)
        sum += __shfl_down_sync(0xffffffffu, sum, k);
    if (lane == 0)
        y[row] = sum;
}

extern "C" void spmv_csr(const int32_t *offsets, const int32_t *columns, const float *values,
                         const float *x, float *y, int64_t M, int64_t N, int64_t NNZ, int64_t M1,
                         cudaStream_t stream)
{
    rows<<<(unsigned)((M + 3) / 4), 128, 0, stream>>>(offsets, columns, values, x, y, M);
}
