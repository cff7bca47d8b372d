/* SPDX-License-Identifier: Apache-2.0 */
/* new: --shape E[N,M] --shape F[M,L] --shape G[N,L] --shape A[N,K] --shape B[K,M] --shape C[M,K] --shape D[K,L] --size N=180,M=190,L=200,K=210 */
#include <stdint.h>
void mm3(const double *A, const double *B, const double *C, const double *D, double *E, double *F,
         double *G, int64_t N, int64_t M, int64_t L, int64_t K)
{
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < M; j++) {
            E[i * M + j] = 0.0;
            for (int64_t k = 0; k < K; ++k)
                E[i * M + j] += A[i * K + k] * B[k * M + j];
        }
    for (int64_t i = 0; i < M; i++)
        for (int64_t j = 0; j < L; j++) {
            F[i * L + j] = 0.0;
            for (int64_t k = 0; k < K; ++k)
                F[i * L + j] += C[i * K + k] * D[k * L + j];
        }
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < L; j++) {
            G[i * L + j] = 0.0;
            for (int64_t k = 0; k < M; ++k)
                G[i * L + j] += E[i * M + k] * F[k * L + j];
        }
}
