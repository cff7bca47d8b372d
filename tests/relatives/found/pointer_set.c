/* SPDX-License-Identifier: Apache-2.0 */
/* A pointer that a branch sets. */
/* new: --shape a[N,M] --inout a --shape x[N,M] --size N=300,M=310 */
#include <stdint.h>
void pointer_set(double *a, const double *x, int64_t N, int64_t M)
{

    for (int64_t i = 1; i < N; i++) {
        const double *from;
        if (x[i] > 0)
            from = a + (i - 1) * M;
        else
            from = x;
        for (int64_t j = 0; j < M; j++)
            a[i * M + j] = from[j] * 0.5 + x[i * M + j];
    }
}
