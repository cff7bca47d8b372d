/* SPDX-License-Identifier: Apache-2.0 */
/* t is read further on than it was filled, from the iteration before. */
/* new: --shape A[R,P] --shape B[R,P] --shape t[P] --inout B --inout t --size R=70,P=60 */
#include <stdint.h>

void scratch_read_ahead(const double *A, double *B, double *t, int64_t R, int64_t P)
{
    for (int64_t r = 0; r < R; r++) {
        for (int64_t p = 0; p < P; p++) {
            t[p] = A[r * P + p];
            for (int64_t s = 0; s < P; s++)
                B[r * P + p] += t[s];
        }
        for (int64_t p = 0; p < P; p++)
            B[r * P + p] += t[p];
    }
}
