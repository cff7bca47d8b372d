/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>

void prefix_sum(const float *X, float *Y, int64_t M, int64_t N)
{
    for (int64_t m = 0; m < M; m++) {
        float sum = 0;
        for (int64_t n = 0; n < N; n++) {
            sum += X[m * N + n];
            Y[m * N + n] = sum;
        }
    }
}
