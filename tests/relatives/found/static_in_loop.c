/* SPDX-License-Identifier: Apache-2.0 */
/* A static variable of the body is carried on. */
/* new: --shape A[R,P] --shape B[R,P] --inout B --size R=70,P=60 */
#include <stdint.h>

void static_in_loop(const double *A, double *B, int64_t R, int64_t P)
{
    double t[60];
    for (int64_t r = 0; r < R; r++) {
        static double last = 0;
        for (int64_t p = 0; p < 60; p++)
            t[p] = last + r;
        for (int64_t p = 0; p < 60; p++)
            last += t[p] * 0.001;
        for (int64_t p = 0; p < P; p++)
            B[r * P + p] = last;
    }
}
