/* SPDX-License-Identifier: Apache-2.0 */
/* new: --shape D[N,L] --shape T[N,M] --shape A[N,K] --shape B[K,M] --shape C[M,L] --inout D --size N=200,M=210,K=220,L=230 */
#include <stdint.h>
void mm2(double *D, double *T, const double *A, const double *B, const double *C, int64_t N,
         int64_t M, int64_t K, int64_t L)
{
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < M; j++) {
            T[i * M + j] = 0;
            for (int64_t k = 0; k < K; ++k)
                T[i * M + j] += 1.5 * A[i * K + k] * B[k * M + j];
        }
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < L; j++) {
            D[i * L + j] *= 1.2;
            for (int64_t k = 0; k < M; ++k)
                D[i * L + j] += T[i * M + k] * C[k * L + j];
        }
}
