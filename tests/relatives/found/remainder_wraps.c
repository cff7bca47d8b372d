/* SPDX-License-Identifier: Apache-2.0 */
/* A product of 32 bits with a remainder wraps. */
/* new: --shape y[L] --size L=3000,N=70 */
#include <stdint.h>
void remainder_wraps(double *y, int32_t L, int32_t N)
{
    for (int32_t i = 0; i < L; i++)
        y[i] = (double)(((i % N) * 2654435761u) >> 16);
}
