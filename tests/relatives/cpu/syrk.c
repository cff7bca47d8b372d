/* SPDX-License-Identifier: Apache-2.0 */
/* new: --shape A[N,M] --shape C[N,N] --inout C --size N=300,M=310 */
#include <stdint.h>
void syrk(const float *A, float *C, int64_t N, int64_t M)
{
    for (int64_t i = 0; i < N; i++) {
        for (int64_t j = 0; j <= i; j++)
            C[i * N + j] *= 1.2f;
        for (int64_t k = 0; k < M; k++)
            for (int64_t j = 0; j <= i; j++)
                C[i * N + j] += 1.5f * A[i * M + k] * A[j * M + k];
    }
}
