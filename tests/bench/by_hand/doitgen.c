/* SPDX-License-Identifier: Apache-2.0 */
/* BLAS: dgemm of 600 rows at a time into a buffer, which is copied back. */
#include <cblas.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void doitgen_blas(double *A, const double *C, double *sum, int64_t R, int64_t Q, int64_t P)
{
    enum { ROWS = 600 };
    const int p = (int)P;
    double *out = malloc((size_t)(ROWS * P) * sizeof *out);
    for (int64_t i = 0; i < R * Q; i += ROWS) {
        const int n = (int)(R * Q - i < ROWS ? R * Q - i : ROWS);
        double *a = A + i * P;
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, p, p, 1.0, a, p, C, p, 0.0, out,
                    p);
        memcpy(a, out, (size_t)(n * P) * sizeof *out);
    }
    memcpy(sum, A + (R * Q - 1) * P, (size_t)P * sizeof *sum); /* the last row */
    free(out);
}
