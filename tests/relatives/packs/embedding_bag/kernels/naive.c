/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>

void embedding_bag(const float *X, const int32_t *bag, float *Y, int64_t R, int64_t L, int64_t P,
                   int64_t D)
{
    for (int64_t l = 0; l < L; l++)
        for (int64_t d = 0; d < D; d++) {
            float sum = 0;
            for (int64_t p = 0; p < P; p++)
                sum += X[bag[l * P + p] * D + d];
            Y[l * D + d] = sum;
        }
}
