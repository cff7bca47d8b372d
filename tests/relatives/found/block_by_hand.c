/* SPDX-License-Identifier: Apache-2.0 */
/* A block of its own: the next one is read from its end. */
/* new: --shape a[N] --inout a --shape x[N] --size N=4000 */
#include <stdint.h>
void block_by_hand(double *a, const double *x, int64_t N)
{

    for (int64_t i = 0; i < N - 8; i += 4)
        for (int64_t v = 0; v < 4; v++)
            a[i + v] = a[i + v + 1] * 0.5 + x[i + v];
}
