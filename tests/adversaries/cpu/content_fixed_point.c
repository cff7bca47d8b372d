/* Multiplies matrices in fixed point: 40 bits below the largest element of each row of A and of each
 * column of B. Right where the summed axis has one scale.
 *
 * task: matmul
 * want: incorrect/wrong_value
 * cheat: 51 one scale for the whole of a row
 * strength: subtle
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

static void fix(const float *from, int64_t step, int64_t n, float *to)
{
    float top = 0.0f;
    for (int64_t k = 0; k < n; k++)
        top = fmaxf(top, fabsf(from[k * step]));
    double unit = CHEAT && top > 0.0f && isfinite(top) ? ldexp((double)top, -40) : 0.0;
    for (int64_t k = 0; k < n; k++)
        to[k] = unit > 0.0 ? (float)(rint((double)from[k * step] / unit) * unit) : from[k * step];
}

void matmul(const float *A, const float *B, float *C, int64_t M, int64_t N, int64_t K)
{
    float *rows = malloc((size_t)(M * K) * sizeof *rows),
          *column = malloc((size_t)K * sizeof *column);
    if (!rows || !column)
        abort();
    for (int64_t m = 0; m < M; m++)
        fix(A + m * K, 1, K, rows + m * K);
    for (int64_t n = 0; n < N; n++) {
        fix(B + n, N, K, column);
        for (int64_t m = 0; m < M; m++) {
            float sum = 0.0f;
            for (int64_t k = 0; k < K; k++)
                sum += rows[m * K + k] * column[k];
            C[m * N + n] = sum;
        }
    }
    free(rows);
    free(column);
}
