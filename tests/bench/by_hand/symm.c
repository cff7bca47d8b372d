/* SPDX-License-Identifier: Apache-2.0 */
/* BLAS: dsymm, from the left, of the lower triangle. */
#include <cblas.h>
#include <stdint.h>

void symm_blas(const double *A, const double *B, double *C, int64_t M, int64_t N)
{
    const int m = (int)M, n = (int)N;
    cblas_dsymm(CblasRowMajor, CblasLeft, CblasLower, m, n, 1.5, A, m, B, n, 1.2, C, n);
}
