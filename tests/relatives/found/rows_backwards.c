/* SPDX-License-Identifier: Apache-2.0 */
/* Rows that count down, and the end of one read as the next. */
/* new: --shape a[N,M] --inout a --shape x[N,M] --size N=300,M=310 */
#include <stdint.h>
void rows_backwards(double *a, const double *x, int64_t N, int64_t M)
{

    for (int64_t i = 1; i < N; i++)
        for (int64_t j = 0; j < M; j++)
            a[(N - 1 - i) * M + j] = a[(N - 1 - i) * M + j + 1] * 0.5 + x[i * M + j];
}
