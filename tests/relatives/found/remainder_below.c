/* SPDX-License-Identifier: Apache-2.0 */
/* A local set from another one, before that is a counter. */
/* new: --shape y[L] --shape x[N] --shape z[L] --size L=3000,N=70 */
#include <stdint.h>
void remainder_below(double *y, const double *x, double *z, int64_t L, int64_t N)
{
    int64_t j = -30, k = j;
    for (j = 0; j < 2; j++)
        for (int64_t i = 0; i < L; i++)
            y[i] = x[((i + k) % N + N) % N] + (i + k) / N + j;
    z[0] = j;
}
