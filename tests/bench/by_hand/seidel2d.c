/* SPDX-License-Identifier: Apache-2.0 */
/* Three steps run together, two rows apart: the part without A[i][j-1] is vectorised, and the three
 * chains over j overlap. Every thread has its own three steps, a block of rows behind the other. */
#include <stdint.h>
#include <stdlib.h>

enum { STEPS = 3, ROWS = 16 };

static void three_rows(double *restrict A, double *restrict part, int64_t N, int64_t row, int64_t t,
                       int64_t T)
{
    const double ninth = 1.0 / 9.0;
    double *spare = part + STEPS * N, *at[STEPS];
    for (int s = 0; s < STEPS; s++) {
        const int64_t i = row - 2 * (t + s);
        const double *a = A + i * N;
        double *p = part + s * N;
        at[s] = spare + s * N; /* a row outside goes nowhere */
        if (i < 1 || i >= N - 1 || t + s >= T)
            continue;
        at[s] = A + i * N;
#pragma omp simd
        for (int64_t j = 1; j < N - 1; j++)
            p[j] = ninth * (a[j - N - 1] + a[j - N] + a[j - N + 1] + a[j] + a[j + 1] +
                            a[j + N - 1] + a[j + N] + a[j + N + 1]);
    }
    double x = at[0][0], y = at[1][0], z = at[2][0];
    for (int64_t j = 1; j < N - 1; j++) {
        at[0][j] = x = part[j] + ninth * x;
        at[1][j] = y = part[N + j] + ninth * y;
        at[2][j] = z = part[2 * N + j] + ninth * z;
    }
}

void seidel2d_by_hand(double *A, int64_t N, int64_t T)
{
    const int64_t groups = (T + STEPS - 1) / STEPS, rows = N + 2 * T;
#pragma omp parallel
    {
        double *part = calloc((size_t)(2 * STEPS * N), sizeof *part);
        for (int64_t wave = 0; wave * ROWS < rows + groups * ROWS; wave++) {
#pragma omp for schedule(static)
            for (int64_t g = 0; g < groups; g++)
                for (int64_t row = (wave - g) * ROWS; wave >= g && row < (wave - g + 1) * ROWS;
                     row++)
                    three_rows(A, part, N, row, g * STEPS, T);
        }
        free(part);
    }
}
