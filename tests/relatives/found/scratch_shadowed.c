/* SPDX-License-Identifier: Apache-2.0 */
/* The second loop over t has another bound under the same name. */
/* new: --shape A[R,P] --shape B[R,P] --shape t[P] --inout B --inout t --size R=70,P=60,Q=20 */
#include <stdint.h>

void scratch_shadowed(const double *A, double *B, double *t, int64_t R, int64_t P, int64_t Q)
{
    for (int64_t r = 0; r < R; r++) {
        for (int64_t p = 0; p < Q; p++)
            t[p] = A[r * P + p];
        {
            int64_t Q = P;
            for (int64_t p = 0; p < Q; p++)
                B[r * P + p] = t[p];
        }
        for (int64_t p = 0; p < P; p++)
            for (int64_t s = 0; s < 3; s++)
                B[r * P + p] += s;
    }
}
