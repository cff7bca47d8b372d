/* SPDX-License-Identifier: Apache-2.0 */
/* BLAS: dtrmm, from the left, of the transposed lower triangle with ones on the diagonal. */
#include <cblas.h>
#include <stdint.h>

void trmm_blas(const double *A, double *B, int64_t M, int64_t N)
{
    const int m = (int)M, n = (int)N;
    cblas_dtrmm(CblasRowMajor, CblasLeft, CblasLower, CblasTrans, CblasUnit, m, n, 1.5, A, m, B, n);
}
