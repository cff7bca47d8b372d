/* SPDX-License-Identifier: Apache-2.0 */
/* A product of 64 bits from a number of 32. */
/* new: --shape y[L] --shape x[N] --size L=3000,N=70 */
#include <stdint.h>
void remainder_start(double *y, const double *x, int64_t L, int64_t N)
{
    for (int64_t i = 100000000; i < 100000000 + L; i++)
        y[i - 100000000] = x[(i * 64) % N];
}
