/* SPDX-License-Identifier: Apache-2.0 */
/* BLAS: ssyrk, of the lower triangle. */
#include <cblas.h>
#include <stdint.h>

void syrk_blas(const float *A, float *C, int64_t N, int64_t M)
{
    const int n = (int)N, m = (int)M;
    cblas_ssyrk(CblasRowMajor, CblasLower, CblasNoTrans, n, m, 1.5f, A, m, 1.2f, C, n);
}
