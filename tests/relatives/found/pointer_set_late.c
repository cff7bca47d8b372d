/* SPDX-License-Identifier: Apache-2.0 */
/* A pointer to the output that is declared first and set behind that. */
/* new: --shape A[N,K] --shape C[N+K,M] --inout C --size N=40,M=50,K=30 */
#include <stdint.h>
void pointer_set_late(const double *A, double *C, int64_t N, int64_t M, int64_t K)
{
    const double *p;
    p = C;
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < M; j++) {
            double acc = 0;
            for (int64_t k = 0; k < K; k++)
                acc += A[i * K + k] * p[k * M + j] * 0.01;
            C[i * M + j] = acc;
        }
}
