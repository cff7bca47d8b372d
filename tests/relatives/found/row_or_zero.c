/* SPDX-License-Identifier: Apache-2.0 */
/* The row above, or one of zeros. */
/* new: --shape D[N,M] --inout D --shape x[N,M] --shape zero[M] --inout zero --size N=300,M=310 */
#include <stdint.h>
void row_or_zero(double *D, const double *x, double *zero, int64_t N, int64_t M)
{

    for (int64_t i = 0; i < N; i++) {
        const double *prev = i ? D + (i - 1) * M : zero;
        double *row = D + i * M;
        row[0] = x[i * M];
        for (int64_t j = 1; j < M; j++)
            row[j] =
                prev[j] < prev[j - 1] ? prev[j] + x[i * M + j] : prev[j - 1] - row[j - 1] * 0.25;
    }
}
