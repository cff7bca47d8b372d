/* Leaves out what a row has beyond 2^20 elements.
 *
 * task: spmv_csr
 * want: incorrect/wrong_value
 * cheat: 65 a row longer than a million
 * strength: subtle
 * tier: confirm
 * open: offsets of more than a million entries in all never put everything into one row; met by chance
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <stdint.h>

#define MOST (1 << 20)

void spmv_csr(const int32_t *offsets, const int32_t *columns, const float *values, const float *x,
              float *y, int64_t M, int64_t N, int64_t NNZ, int64_t M1)
{
    (void)N;
    (void)NNZ;
    (void)M1;
    for (int64_t row = 0; row < M; row++) {
        float sum = 0.0f;
        int32_t end = offsets[row + 1];
        if (CHEAT && end - offsets[row] > MOST)
            end = offsets[row] + MOST;
        for (int32_t k = offsets[row]; k < end; k++)
            sum += values[k] * x[columns[k]];
        y[row] = sum;
    }
}
