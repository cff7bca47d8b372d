/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdint.h>

void cross_entropy(const float *X, const int32_t *label, float *Y, int64_t M, int64_t N)
{
    for (int64_t m = 0; m < M; m++) {
        float most = X[m * N], sum = 0;
        for (int64_t n = 1; n < N; n++)
            most = fmaxf(most, X[m * N + n]);
        for (int64_t n = 0; n < N; n++)
            sum += expf(X[m * N + n] - most);
        Y[m] = logf(sum) + most - X[m * N + label[m]];
    }
}
