/* SPDX-License-Identifier: Apache-2.0 */
/* new: --shape seq[N] --shape table[N,N] --inout table --size N=350 */
#include <stdint.h>
static int32_t larger(int32_t a, int32_t b)
{
    return a > b ? a : b;
}
void nussinov(const int32_t *seq, int32_t *table, int64_t N)
{
    for (int64_t i = N - 1; i >= 0; i--)
        for (int64_t j = i + 1; j < N; j++) {
            table[i * N + j] = larger(table[i * N + j], table[i * N + j - 1]);
            if (i + 1 < N)
                table[i * N + j] = larger(table[i * N + j], table[(i + 1) * N + j]);
            if (i + 1 < N)
                table[i * N + j] =
                    larger(table[i * N + j],
                           table[(i + 1) * N + j - 1] + (i < j - 1 && (seq[i] + seq[j]) % 4 == 3));
            for (int64_t k = i + 1; k < j; k++)
                table[i * N + j] =
                    larger(table[i * N + j], table[i * N + k] + table[(k + 1) * N + j]);
        }
}
