/* SPDX-License-Identifier: Apache-2.0 */
/* new: --shape A[R,Q,P] --shape C[P,P] --shape sum[P] --inout A --size R=60,Q=60,P=70 */
#include <stdint.h>
void doitgen(double *A, const double *C, double *sum, int64_t R, int64_t Q, int64_t P)
{
    for (int64_t r = 0; r < R; r++)
        for (int64_t q = 0; q < Q; q++) {
            for (int64_t p = 0; p < P; p++) {
                sum[p] = 0.0;
                for (int64_t s = 0; s < P; s++)
                    sum[p] += A[(r * Q + q) * P + s] * C[s * P + p];
            }
            for (int64_t p = 0; p < P; p++)
                A[(r * Q + q) * P + p] = sum[p];
        }
}
