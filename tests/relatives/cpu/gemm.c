/* SPDX-License-Identifier: Apache-2.0 */
/* new: --shape C[N,M] --shape A[N,K] --shape B[K,M] --inout C --size N=300,M=310,K=320 */
#include <stdint.h>
void gemm(double *C, const double *A, const double *B, double beta, int64_t N, int64_t M, int64_t K)
{
    for (int64_t i = 0; i < N; i++) {
        for (int64_t j = 0; j < M; j++)
            C[i * M + j] *= beta;
        for (int64_t k = 0; k < K; k++)
            for (int64_t j = 0; j < M; j++)
                C[i * M + j] += 1.5 * A[i * K + k] * B[k * M + j];
    }
}
