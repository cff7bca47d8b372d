/* SPDX-License-Identifier: Apache-2.0 */
/* The divisor has another meaning in the rest of the body. */
/* new: --shape y[L] --shape x[N] --size L=3000,N=70 */
#include <stdint.h>
void remainder_scope(double *y, const double *x, int64_t L, int64_t N)
{
    for (int64_t i = 0; i < L; i++) {
        y[i] = x[i % N];
        int64_t N = 4;
        y[i] += N;
    }
}
