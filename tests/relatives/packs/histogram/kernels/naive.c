/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>

void histogram(const int32_t *bin, int32_t *Y, int64_t N, int64_t L)
{
    for (int64_t l = 0; l < L; l++)
        Y[l] = 0;
    for (int64_t n = 0; n < N; n++)
        Y[bin[n]]++;
}
