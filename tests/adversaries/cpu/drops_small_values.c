/* Leaves out the smallest elements of the matrix.
 *
 * task: spmv_csr
 * want: incorrect/wrong_value
 * cheat: 35 approximation
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
            if (!CHEAT || values[k] > 0.05f || values[k] < -0.05f)
                sum += values[k] * x[columns[k]];
        y[row] = sum;
    }
}
