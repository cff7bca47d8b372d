/* SPDX-License-Identifier: Apache-2.0 */
/* BLAS: dgemm. */
#include <cblas.h>
#include <stdint.h>

void gemm_blas(double *C, const double *A, const double *B, double beta, int64_t N, int64_t M,
               int64_t K)
{
    const int n = (int)N, m = (int)M, k = (int)K;
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, m, k, 1.5, A, k, B, m, beta, C, m);
}
