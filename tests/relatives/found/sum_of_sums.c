/* SPDX-License-Identifier: Apache-2.0 */
/* A tile's last block overlaps the one before: a sum from outside of it would take elements twice. */
/* new: --shape a[N,K] --shape b[K,M] --shape out[1] --size N=37,M=53,K=24 */
#include <stdint.h>
void sum_of_sums(const double *a, const double *b, double *out, int64_t N, int64_t M, int64_t K)
{
    double total = 0;
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < M; j++) {
            double s = 0;
            for (int64_t k = 0; k < K; k++)
                s += a[i * K + k] * b[k * M + j];
            total += s * s;
        }
    out[0] = total;
}
