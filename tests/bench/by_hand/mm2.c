/* SPDX-License-Identifier: Apache-2.0 */
/* BLAS: dgemm, dgemm. */
#include <cblas.h>
#include <stdint.h>

void mm2_blas(double *D, double *T, const double *A, const double *B, const double *C, int64_t N,
              int64_t M, int64_t K, int64_t L)
{
    const int n = (int)N, m = (int)M, k = (int)K, l = (int)L;
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, m, k, 1.5, A, k, B, m, 0.0, T, m);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, l, m, 1.0, T, m, C, l, 1.2, D, l);
}
