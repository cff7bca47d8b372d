/* SPDX-License-Identifier: Apache-2.0 */
/* new: --shape A[N,M] --shape s[M] --shape q[N] --shape p[M] --shape r[N] --size M=1500,N=1600 */
#include <stdint.h>
void bicg(const double *A, double *s, double *q, const double *p, const double *r, int64_t M,
          int64_t N)
{
    for (int64_t j = 0; j < M; j++)
        s[j] = 0;
    for (int64_t i = 0; i < N; i++) {
        q[i] = 0;
        for (int64_t j = 0; j < M; j++) {
            s[j] += r[i] * A[i * M + j];
            q[i] += A[i * M + j] * p[j];
        }
    }
}
