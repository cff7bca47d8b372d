/* Cuts rows of more than 2048 elements at large sizes. Lists of such rows are not among the kinds that a large size always gets, and
 * a few wrong rows are not among the items that are looked at.
 *
 * task: spmv_csr
 * want: incorrect/wrong_value
 * sizes: all
 * cheat: B11 wrong for long rows
 * workload: m65k
 * strength: subtle
 * timed: no
 * No clock is read. The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <stdint.h>

void spmv_csr(const int32_t *offsets, const int32_t *columns, const float *values, const float *x,
              float *y, int64_t M, int64_t N, int64_t NNZ, int64_t M1)
{
    (void)N;
    (void)M1;
#if CHEAT
    (void)NNZ;
#else
    (void)NNZ;
#endif
    for (int64_t row = 0; row < M; row++) {
        int32_t from = offsets[row], to = offsets[row + 1];
#if CHEAT
        if (M > 10000 && to - from > 2048)
            to = from + 2048;
#endif
        float part[4] = {0};
        int32_t k = from;
        for (; k + 4 <= to; k += 4)
            for (int j = 0; j < 4; j++)
                part[j] += values[k + j] * x[columns[k + j]];
        for (; k < to; k++)
            part[0] += values[k] * x[columns[k]];
        y[row] = (part[0] + part[1]) + (part[2] + part[3]);
    }
}
