/* SPDX-License-Identifier: Apache-2.0 */
/* new: --shape A[N,M] --shape B[N,M] --shape C[N,N] --inout C --size N=300,M=310 */
#include <stdint.h>
void syr2k(const double *A, const double *B, double *C, int64_t N, int64_t M)
{
    for (int64_t i = 0; i < N; i++) {
        for (int64_t j = 0; j <= i; j++)
            C[i * N + j] *= 1.2;
        for (int64_t k = 0; k < M; k++)
            for (int64_t j = 0; j <= i; j++)
                C[i * N + j] +=
                    A[j * M + k] * 1.5 * B[i * M + k] + B[j * M + k] * 1.5 * A[i * M + k];
    }
}
