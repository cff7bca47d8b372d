/* Makes its inputs zero, and its outputs too.
 *
 * task: spmv_csr
 * want: incorrect/input_changed
 * cheat: 22 mutates an input fully
 * strength: blatant
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <stdint.h>

static void body(const int32_t *offsets, const int32_t *columns, const float *values,
                 const float *x, float *y, int64_t M)
{
    for (int64_t row = 0; row < M; row++) {
        float sum = 0.0f;
        for (int32_t k = offsets[row]; k < offsets[row + 1]; k++)
            sum += values[k] * x[columns[k]];
        y[row] = sum;
    }
}
void spmv_csr(const int32_t *offsets, const int32_t *columns, const float *values, const float *x,
              float *y, int64_t M, int64_t N, int64_t NNZ, int64_t M1)
{
    (void)N, (void)M1;
    (void)NNZ;
#if CHEAT
    for (int64_t k = 0; k < NNZ; k++)
        ((float *)(uintptr_t)values)[k] = 0.0f;
#endif
    body(offsets, columns, values, x, y, M);
}
