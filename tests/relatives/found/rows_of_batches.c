/* SPDX-License-Identifier: Apache-2.0 */
/* The end of a row, and of a batch, is read as the next. */
/* new: --shape a[B,N,M] --inout a --shape x[B,N,M] --size B=4,N=150,M=160 */
#include <stdint.h>
void rows_of_batches(double *a, const double *x, int64_t B, int64_t N, int64_t M)
{

    for (int64_t b = 0; b < B; b++)
        for (int64_t i = 0; i < N; i++) {
            double s = 0;
            for (int64_t j = 0; j < M; j++) {
                s = s * 0.5 + x[b * N * M + i * M + j];
                if (b * N * M + i * M + j + 1 < B * N * M)
                    a[b * N * M + i * M + j] = a[b * N * M + i * M + j + 1] * 0.5 + s;
            }
        }
}
