/* SPDX-License-Identifier: Apache-2.0 */
/* BLAS: dsyr2k, of the lower triangle. */
#include <cblas.h>
#include <stdint.h>

void syr2k_blas(const double *A, const double *B, double *C, int64_t N, int64_t M)
{
    const int n = (int)N, m = (int)M;
    cblas_dsyr2k(CblasRowMajor, CblasLower, CblasNoTrans, n, m, 1.5, A, m, B, m, 1.2, C, n);
}
