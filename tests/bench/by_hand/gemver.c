/* SPDX-License-Identifier: Apache-2.0 */
/* By hand: A is updated and summed into x in one pass, four rows at a time, and read once more for
 * w. BLAS: dger, dger, dgemv, daxpy, dgemv. */
#include <cblas.h>
#include <stdint.h>

static inline __attribute__((always_inline)) void
update(double *restrict a, const double *restrict u1, const double *restrict v1,
       const double *restrict u2, const double *restrict v2, double *restrict x,
       const double *restrict y, int64_t N, const int rows)
{
#pragma omp simd
    for (int64_t j = 0; j < N; j++) {
        double sum = 0;
#pragma GCC unroll 4
        for (int r = 0; r < rows; r++) {
            const double now = a[r * N + j] + u1[r] * v1[j] + u2[r] * v2[j];
            a[r * N + j] = now;
            sum += now * y[r];
        }
        x[j] += 1.2 * sum;
    }
}

void gemver_by_hand(double *restrict A, const double *restrict u1, const double *restrict v1,
                    const double *restrict u2, const double *restrict v2, double *restrict w,
                    double *restrict x, const double *restrict y, const double *restrict z,
                    int64_t N)
{
#pragma omp parallel for schedule(static) reduction(+ : x[:N])
    for (int64_t i = 0; i < N - N % 4; i += 4)
        update(A + i * N, u1 + i, v1, u2 + i, v2, x, y + i, N, 4);
    for (int64_t i = N - N % 4; i < N; i++)
        update(A + i * N, u1 + i, v1, u2 + i, v2, x, y + i, N, 1);
    for (int64_t i = 0; i < N; i++)
        x[i] += z[i];
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < N; i++) {
        double sum = 0;
#pragma omp simd reduction(+ : sum)
        for (int64_t j = 0; j < N; j++)
            sum += A[i * N + j] * x[j];
        w[i] = 1.5 * sum;
    }
}

void gemver_blas(double *A, const double *u1, const double *v1, const double *u2, const double *v2,
                 double *w, double *x, const double *y, const double *z, int64_t N)
{
    const int n = (int)N;
    cblas_dger(CblasRowMajor, n, n, 1.0, u1, 1, v1, 1, A, n);
    cblas_dger(CblasRowMajor, n, n, 1.0, u2, 1, v2, 1, A, n);
    cblas_dgemv(CblasRowMajor, CblasTrans, n, n, 1.2, A, n, y, 1, 1.0, x, 1);
    cblas_daxpy(n, 1.0, z, 1, x, 1);
    cblas_dgemv(CblasRowMajor, CblasNoTrans, n, n, 1.5, A, n, x, 1, 0.0, w, 1);
}
