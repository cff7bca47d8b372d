/* Keeps the values of long rows in float16.
 *
 * task: spmv_csr
 * want: incorrect/wrong_value,nonfinite
 * cheat: 11 bf16 inputs rounding in fp32 task
 * strength: subtle
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <stdint.h>

void spmv_csr(const int32_t *offsets, const int32_t *columns, const float *values, const float *x,
              float *y, int64_t M, int64_t N, int64_t NNZ, int64_t M1)
{
    (void)N, (void)NNZ, (void)M1;
    for (int64_t row = 0; row < M; row++) {
        float sum = 0.0f;
        for (int32_t k = offsets[row]; k < offsets[row + 1]; k++)
            sum += (CHEAT && k - offsets[row] >= 8 ? (float)(_Float16)values[k] : values[k]) *
                   x[columns[k]];
        y[row] = sum;
    }
}
