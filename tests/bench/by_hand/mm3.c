/* SPDX-License-Identifier: Apache-2.0 */
/* BLAS: dgemm, dgemm, dgemm. */
#include <cblas.h>
#include <stdint.h>

void mm3_blas(const double *A, const double *B, const double *C, const double *D, double *E,
              double *F, double *G, int64_t N, int64_t M, int64_t L, int64_t K)
{
    const int n = (int)N, m = (int)M, l = (int)L, k = (int)K;
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, m, k, 1.0, A, k, B, m, 0.0, E, m);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, l, k, 1.0, C, k, D, l, 0.0, F, l);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, l, m, 1.0, E, m, F, l, 0.0, G, l);
}
