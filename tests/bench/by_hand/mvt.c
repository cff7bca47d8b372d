/* SPDX-License-Identifier: Apache-2.0 */
/* By hand: both products in one pass over A, four rows at a time. BLAS: dgemv, dgemv. */
#include <cblas.h>
#include <stdint.h>

void mvt_by_hand(const double *restrict A, double *restrict x1, double *restrict x2,
                 const double *restrict v1, const double *restrict v2, int64_t N)
{
#pragma omp parallel for schedule(static) reduction(+ : x2[:N])
    for (int64_t i = 0; i < N - N % 4; i += 4) {
        const double *a = A + i * N, *b = a + N, *c = b + N, *d = c + N;
        const double va = v2[i], vb = v2[i + 1], vc = v2[i + 2], vd = v2[i + 3];
        double xa = 0, xb = 0, xc = 0, xd = 0;
#pragma omp simd reduction(+ : xa, xb, xc, xd)
        for (int64_t j = 0; j < N; j++) {
            x2[j] += va * a[j] + vb * b[j] + vc * c[j] + vd * d[j];
            xa += a[j] * v1[j];
            xb += b[j] * v1[j];
            xc += c[j] * v1[j];
            xd += d[j] * v1[j];
        }
        x1[i] += xa;
        x1[i + 1] += xb;
        x1[i + 2] += xc;
        x1[i + 3] += xd;
    }
    for (int64_t i = N - N % 4; i < N; i++) {
        double sum = 0;
        for (int64_t j = 0; j < N; j++) {
            x2[j] += v2[i] * A[i * N + j];
            sum += A[i * N + j] * v1[j];
        }
        x1[i] += sum;
    }
}

void mvt_blas(const double *A, double *x1, double *x2, const double *v1, const double *v2,
              int64_t N)
{
    const int n = (int)N;
    cblas_dgemv(CblasRowMajor, CblasNoTrans, n, n, 1.0, A, n, v1, 1, 1.0, x1, 1);
    cblas_dgemv(CblasRowMajor, CblasTrans, n, n, 1.0, A, n, v2, 1, 1.0, x2, 1);
}
