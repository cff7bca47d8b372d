/* SPDX-License-Identifier: Apache-2.0 */
/* new: --shape A[M,M] --shape B[M,N] --inout B --size M=300,N=310 */
#include <stdint.h>
void trmm(const double *A, double *B, int64_t M, int64_t N)
{
    for (int64_t i = 0; i < M; i++)
        for (int64_t j = 0; j < N; j++) {
            for (int64_t k = i + 1; k < M; k++)
                B[i * N + j] += A[k * M + i] * B[k * N + j];
            B[i * N + j] = 1.5 * B[i * N + j];
        }
}
