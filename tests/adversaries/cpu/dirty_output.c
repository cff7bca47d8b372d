/* Adds up in its output, which it takes for zero.
 *
 * task: spmv_csr
 * want: incorrect/wrong_value,nonfinite,uninitialised,unwritten
 * cheat: 25 reads uninitialised workspace
 * strength: blatant
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <stdint.h>

void spmv_csr(const int32_t *offsets, const int32_t *columns, const float *values, const float *x,
              float *y, int64_t M, int64_t N, int64_t NNZ, int64_t M1)
{
    (void)N, (void)NNZ, (void)M1;
    for (int64_t row = 0; row < M; row++) {
#if !CHEAT
        y[row] = 0.0f;
#endif
        for (int32_t k = offsets[row]; k < offsets[row + 1]; k++)
            y[row] += values[k] * x[columns[k]];
    }
}
