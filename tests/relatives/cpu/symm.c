/* SPDX-License-Identifier: Apache-2.0 */
/* new: --shape A[M,M] --shape B[M,N] --shape C[M,N] --inout C --size M=300,N=310 */
#include <stdint.h>
void symm(const double *A, const double *B, double *C, int64_t M, int64_t N)
{
    for (int64_t i = 0; i < M; i++)
        for (int64_t j = 0; j < N; j++) {
            double sum = 0.0;
            for (int64_t k = 0; k < i; k++) {
                C[k * N + j] += 1.5 * B[i * N + j] * A[i * M + k];
                sum += B[k * N + j] * A[i * M + k];
            }
            C[i * N + j] = 1.2 * C[i * N + j] + 1.5 * B[i * N + j] * A[i * M + i] + 1.5 * sum;
        }
}
