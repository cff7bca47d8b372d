/* SPDX-License-Identifier: Apache-2.0 */
/* Names that a rule makes up are taken. */
/* new: --shape panel_0[N,K] --shape B[K,M] --shape panel_1[K,M] --shape C[N,M] --inout C --size N=40,M=50,K=60 */
#include <stdint.h>

void panel_names(const double *panel_0, const double *B, const double *panel_1, double *C,
                 int64_t N, int64_t M, int64_t K)
{
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < M; j++) {
            double acc = 0, b = 0;
            for (int64_t k = 0; k < K; k++) {
                acc += panel_0[i * K + k] * B[k * M + j];
                b += panel_0[i * K + k] * panel_1[k * M + j];
            }
            C[i * M + j] = acc + b;
        }
}
