/* SPDX-License-Identifier: Apache-2.0 */
/* By hand: 64 rows at a time; their sums over what is solved go to the threads. BLAS: the same with
 * dgemv and, on a scaled copy of the triangle, dtrsv. */
#include <cblas.h>
#include <stdint.h>
#include <string.h>

enum { B = 64 };

void trisolv_by_hand(const double *restrict L, const double *restrict b, double *restrict x,
                     int64_t N)
{
    const double share = 1 / (double)N;
    for (int64_t from = 0; from < N; from += B) {
        const int64_t to = from + B < N ? from + B : N;
#pragma omp parallel for schedule(static) if (from > 0)
        for (int64_t i = from; i < to; i++) {
            double sum = 0;
#pragma omp simd reduction(+ : sum)
            for (int64_t j = 0; j < from; j++)
                sum += L[i * N + j] * x[j];
            x[i] = b[i] - sum * share;
        }
        for (int64_t i = from; i < to; i++) {
            double sum = 0;
            for (int64_t j = from; j < i; j++)
                sum += L[i * N + j] * x[j];
            x[i] = (x[i] - sum * share) / L[i * N + i];
        }
    }
}

void trisolv_blas(const double *L, const double *b, double *x, int64_t N)
{
    const double share = 1 / (double)N;
    double scaled[B * B];
    memcpy(x, b, (size_t)N * sizeof *x);
    for (int64_t from = 0; from < N; from += B) {
        const int n = (int)(N - from < B ? N - from : B);
        const double *rows = L + from * N;
        if (from)
            cblas_dgemv(CblasRowMajor, CblasNoTrans, n, (int)from, -share, rows, (int)N, x, 1, 1.0,
                        x + from, 1);
        for (int i = 0; i < n; i++)
            for (int j = 0; j <= i; j++)
                scaled[i * B + j] = rows[i * N + from + j] * (j < i ? share : 1);
        cblas_dtrsv(CblasRowMajor, CblasLower, CblasNoTrans, CblasNonUnit, n, scaled, B, x + from,
                    1);
    }
}
