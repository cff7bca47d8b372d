/* SPDX-License-Identifier: Apache-2.0 */
/* By hand: four rows of A at a time are read once, and every thread sums its own y. BLAS: dgemv,
 * dgemv. */
#include <cblas.h>
#include <stdint.h>

void atax_by_hand(const double *restrict A, const double *restrict x, double *restrict y,
                  double *restrict tmp, int64_t M, int64_t N)
{
    for (int64_t j = 0; j < N; j++)
        y[j] = 0;
#pragma omp parallel for schedule(static) reduction(+ : y[:N])
    for (int64_t i = 0; i < M - M % 4; i += 4) {
        const double *a = A + i * N, *b = a + N, *c = b + N, *d = c + N;
        double s = 0, t = 0, u = 0, v = 0;
#pragma omp simd reduction(+ : s, t, u, v)
        for (int64_t j = 0; j < N; j++) {
            s += a[j] * x[j];
            t += b[j] * x[j];
            u += c[j] * x[j];
            v += d[j] * x[j];
        }
#pragma omp simd
        for (int64_t j = 0; j < N; j++)
            y[j] += s * a[j] + t * b[j] + u * c[j] + v * d[j];
        tmp[i] = s;
        tmp[i + 1] = t;
        tmp[i + 2] = u;
        tmp[i + 3] = v;
    }
    for (int64_t i = M - M % 4; i < M; i++) {
        double s = 0;
        for (int64_t j = 0; j < N; j++)
            s += A[i * N + j] * x[j];
        for (int64_t j = 0; j < N; j++)
            y[j] += s * A[i * N + j];
        tmp[i] = s;
    }
}

void atax_blas(const double *A, const double *x, double *y, double *tmp, int64_t M, int64_t N)
{
    const int m = (int)M, n = (int)N;
    cblas_dgemv(CblasRowMajor, CblasNoTrans, m, n, 1.0, A, n, x, 1, 0.0, tmp, 1);
    cblas_dgemv(CblasRowMajor, CblasTrans, m, n, 1.0, A, n, tmp, 1, 0.0, y, 1);
}
