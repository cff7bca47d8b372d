/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>

void int8_product(const int8_t *A, const int8_t *B, int32_t *C, int64_t M, int64_t N, int64_t K)
{
    for (int64_t m = 0; m < M; m++)
        for (int64_t n = 0; n < N; n++) {
            int32_t sum = 0;
            for (int64_t k = 0; k < K; k++)
                sum += A[m * K + k] * B[k * N + n];
            C[m * N + n] = sum;
        }
}
