/* SPDX-License-Identifier: Apache-2.0 */
/* By hand: 16 columns at a time; the rows below take all 16 at once in register tiles of 4 x 16.
 * BLAS: the same with 32 columns, dtrsm and dgemm. */
#include <cblas.h>
#include <stdint.h>
#include <string.h>

enum { KB = 16, JB = 16, BLAS_KB = 32 };

/* Rows from i on: their part of L in the columns k0..k1 by the triangle u, then the rest. */
static inline __attribute__((always_inline)) void rows_below(double *restrict A,
                                                             const double (*restrict u)[KB],
                                                             int64_t N, int64_t i, int64_t k0,
                                                             const int rows)
{
    double *a = A + i * N, l[4][KB];
    for (int k = 0; k < KB; k++)
#pragma GCC unroll 4
        for (int r = 0; r < rows; r++) {
            if (k == 0)
                memcpy(l[r], a + r * N + k0, sizeof l[r]);
            const double f = l[r][k] / u[k][k];
#pragma omp simd
            for (int v = 0; v < KB; v++)
                l[r][v] -= v > k ? f * u[k][v] : 0;
            a[r * N + k0 + k] = l[r][k] = f;
        }
    for (int64_t j = k0 + KB; j < N; j += JB) {
        const int64_t at = j + JB <= N ? j : N - JB; /* the last tile overlaps the one before */
        double sum[4][JB] = {{0}};
        for (int k = 0; k < KB; k++)
#pragma GCC unroll 4
            for (int r = 0; r < rows; r++)
#pragma omp simd
                for (int v = 0; v < JB; v++)
                    sum[r][v] += l[r][k] * A[(k0 + k) * N + at + v];
        for (int r = 0; r < rows; r++)
            for (int64_t v = j - at; v < JB; v++)
                a[r * N + at + v] -= sum[r][v];
    }
}

void lu_by_hand(double *A, int64_t N)
{
    for (int64_t k0 = 0; k0 < N; k0 += KB) {
        const int64_t k1 = k0 + KB < N ? k0 + KB : N;
        for (int64_t k = k0; k < k1; k++)
            for (int64_t i = k + 1; i < k1; i++) {
                const double l = A[i * N + k] /= A[k * N + k];
#pragma omp simd
                for (int64_t j = k + 1; j < N; j++)
                    A[i * N + j] -= l * A[k * N + j];
            }
        double u[KB][KB];
        for (int64_t k = k0; k < k1; k++)
            memcpy(u[k - k0], A + k * N + k0, (size_t)(k1 - k0) * sizeof **u);
#pragma omp parallel for schedule(static)
        for (int64_t i = k1; i < N; i += 4)
            if (i + 4 <= N)
                rows_below(A, u, N, i, k0, 4);
            else
                for (int64_t r = i; r < N; r++)
                    rows_below(A, u, N, r, k0, 1);
    }
}

void lu_blas(double *A, int64_t N)
{
    for (int64_t k0 = 0; k0 < N; k0 += BLAS_KB) {
        const int64_t k1 = k0 + BLAS_KB < N ? k0 + BLAS_KB : N;
        const int n = (int)N, width = (int)(k1 - k0), rest = (int)(N - k1);
        for (int64_t k = k0; k < k1; k++)
            for (int64_t i = k + 1; i < N; i++) {
                const double l = A[i * N + k] /= A[k * N + k];
#pragma omp simd
                for (int64_t j = k + 1; j < k1; j++)
                    A[i * N + j] -= l * A[k * N + j];
            }
        if (rest == 0)
            break;
        cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, CblasNoTrans, CblasUnit, width, rest, 1.0,
                    A + k0 * N + k0, n, A + k0 * N + k1, n);
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, rest, rest, width, -1.0,
                    A + k1 * N + k0, n, A + k0 * N + k1, n, 1.0, A + k1 * N + k1, n);
    }
}
