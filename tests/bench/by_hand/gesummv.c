/* SPDX-License-Identifier: Apache-2.0 */
/* By hand: rows go to the threads, both sums of two rows in one vector loop. BLAS: dgemv, dgemv,
 * daxpy. */
#include <cblas.h>
#include <stdint.h>

void gesummv_by_hand(const double *restrict A, const double *restrict B, double *restrict tmp,
                     const double *restrict x, double *restrict y, int64_t N)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < N; i += 2) {
        const int64_t next = i + 1 < N ? i + 1 : i;
        const double *a = A + i * N, *b = B + i * N, *c = A + next * N, *d = B + next * N;
        double s = 0, t = 0, u = 0, v = 0;
#pragma omp simd reduction(+ : s, t, u, v)
        for (int64_t j = 0; j < N; j++) {
            s += a[j] * x[j];
            t += b[j] * x[j];
            u += c[j] * x[j];
            v += d[j] * x[j];
        }
        tmp[i] = s;
        y[i] = 1.5 * s + 1.2 * t;
        tmp[next] = u;
        y[next] = 1.5 * u + 1.2 * v;
    }
}

void gesummv_blas(const double *A, const double *B, double *tmp, const double *x, double *y,
                  int64_t N)
{
    const int n = (int)N;
    cblas_dgemv(CblasRowMajor, CblasNoTrans, n, n, 1.0, A, n, x, 1, 0.0, tmp, 1);
    cblas_dgemv(CblasRowMajor, CblasNoTrans, n, n, 1.2, B, n, x, 1, 0.0, y, 1);
    cblas_daxpy(n, 1.5, tmp, 1, y, 1);
}
