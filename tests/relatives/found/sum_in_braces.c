/* SPDX-License-Identifier: Apache-2.0 */
/* sum_tile: the loop of the sum stands in braces of its own. */
/* new: --shape s[M] --inout s --shape q[N] --inout q --shape A[N,M] --shape p[M] --shape r[N] --size N=300,M=310 */
#include <stdint.h>
void sum_in_braces(float *s, float *q, const float *A, const float *p, const float *r, int64_t N,
                   int64_t M)
{
    for (int64_t j = 0; j < M; j++)
        s[j] = 0;
    for (int64_t i = 0; i < N; i++) {
        float sum = 0;
        {
            int j;
            for (j = 0; j < M; j++) {
                s[j] += r[i] * A[j + i * M];
                sum += A[j + i * M] * p[j];
            }
        }
        q[i] = sum;
    }
}
