/* SPDX-License-Identifier: Apache-2.0 */
/* By hand: both products in one pass over A, four rows at a time. BLAS: dgemv, dgemv. */
#include <cblas.h>
#include <stdint.h>

void bicg_by_hand(const double *restrict A, double *restrict s, double *restrict q,
                  const double *restrict p, const double *restrict r, int64_t M, int64_t N)
{
    for (int64_t j = 0; j < M; j++)
        s[j] = 0;
#pragma omp parallel for schedule(static) reduction(+ : s[:M])
    for (int64_t i = 0; i < N - N % 4; i += 4) {
        const double *a = A + i * M, *b = a + M, *c = b + M, *d = c + M;
        const double ra = r[i], rb = r[i + 1], rc = r[i + 2], rd = r[i + 3];
        double qa = 0, qb = 0, qc = 0, qd = 0;
#pragma omp simd reduction(+ : qa, qb, qc, qd)
        for (int64_t j = 0; j < M; j++) {
            s[j] += ra * a[j] + rb * b[j] + rc * c[j] + rd * d[j];
            qa += a[j] * p[j];
            qb += b[j] * p[j];
            qc += c[j] * p[j];
            qd += d[j] * p[j];
        }
        q[i] = qa;
        q[i + 1] = qb;
        q[i + 2] = qc;
        q[i + 3] = qd;
    }
    for (int64_t i = N - N % 4; i < N; i++) {
        double sum = 0;
        for (int64_t j = 0; j < M; j++) {
            s[j] += r[i] * A[i * M + j];
            sum += A[i * M + j] * p[j];
        }
        q[i] = sum;
    }
}

void bicg_blas(const double *A, double *s, double *q, const double *p, const double *r, int64_t M,
               int64_t N)
{
    const int m = (int)M, n = (int)N;
    cblas_dgemv(CblasRowMajor, CblasTrans, n, m, 1.0, A, m, r, 1, 0.0, s, 1);
    cblas_dgemv(CblasRowMajor, CblasNoTrans, n, m, 1.0, A, m, p, 1, 0.0, q, 1);
}
