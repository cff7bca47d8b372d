/* SPDX-License-Identifier: Apache-2.0 */
/* new: --shape a[N] --shape b[M] --shape D[N,M] --size N=300,M=310 */
#include <math.h>
#include <stddef.h>
#include <stdint.h>

#define CELL(i, j) D[(size_t)(i) * (size_t)M + (size_t)(j)]
#define LESS(a, b) ((a) < (b) ? (a) : (b))

/* Dynamic time warping; the cells are kept. */
void warp_path(const double *a, const double *b, double *D, int64_t N, int64_t M)
{
    int64_t i, j;
    double up, left, cost;
    CELL(0, 0) = fabs(a[0] - b[0]);
    for (i = 1; i < N; i++)
        CELL(i, 0) = CELL(i - 1, 0) + fabs(a[i] - b[0]);
    for (j = 1; j < M; j++)
        CELL(0, j) = CELL(0, j - 1) + fabs(a[0] - b[j]);
    for (i = 1; i < N; i++) {
        for (j = 1; j < M; j++) {
            cost = fabs(a[i] - b[j]);
            up = CELL(i - 1, j);
            left = CELL(i, j - 1);
            CELL(i, j) = cost + LESS(LESS(up, left), CELL(i - 1, j - 1));
        }
    }
}
