#include <stdint.h>

__global__ void spmv_row(const int32_t *offsets, const int32_t *columns, const float *values,
                         const float *x, float *y, int64_t M)
{
    int64_t row = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= M)
        return;
    float sum = 0.0f;
    for (int32_t k = offsets[row]; k < offsets[row + 1]; k++)
        sum += values[k] * x[columns[k]];
    y[row] = sum;
}

extern "C" void spmv_csr(const int32_t *offsets, const int32_t *columns, const float *values,
                         const float *x, float *y, int64_t M, int64_t N, int64_t NNZ, int64_t M1,
                         cudaStream_t stream)
{
    spmv_row<<<(unsigned)((M + 255) / 256), 256, 0, stream>>>(offsets, columns, values, x, y, M);
}
