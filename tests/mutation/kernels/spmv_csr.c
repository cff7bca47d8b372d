/* Blocks of rows in parallel; rows are unrolled by four. */
#include <stdint.h>

#define ROWS 64

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

void spmv_csr(const int32_t *offsets, const int32_t *columns, const float *values, const float *x,
              float *y, int64_t M, int64_t N, int64_t NNZ, int64_t M1)
{
#pragma omp parallel for
    for (int64_t first = 0; first < M; first += ROWS) {
        int64_t rows = least(M - first, ROWS);
        const int32_t *starts = offsets + first;
        for (int64_t row = 0; row < rows; row++) {
            int64_t length = starts[row + 1] - starts[row];
            const int32_t *column = columns + starts[row];
            const float *value = values + starts[row];
            float parts[4] = {0};
            int64_t k = 0;
            for (; k + 4 <= length; k += 4) {
                parts[0] += value[k] * x[column[k]];
                parts[1] += value[k + 1] * x[column[k + 1]];
                parts[2] += value[k + 2] * x[column[k + 2]];
                parts[3] += value[k + 3] * x[column[k + 3]];
            }
            float sum = (parts[0] + parts[1]) + (parts[2] + parts[3]);
            for (; k < length; k++)
                sum += value[k] * x[column[k]];
            y[first + row] = sum;
        }
    }
}
