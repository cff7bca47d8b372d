/* SPDX-License-Identifier: Apache-2.0 */
/* new: --shape P[N,N] --inout P --size N=250 */
#include <stdint.h>
void floyd(int32_t *P, int64_t N)
{
    for (int64_t k = 0; k < N; k++)
        for (int64_t i = 0; i < N; i++)
            for (int64_t j = 0; j < N; j++)
                P[i * N + j] = P[i * N + j] < P[i * N + k] + P[k * N + j]
                                   ? P[i * N + j]
                                   : P[i * N + k] + P[k * N + j];
}
