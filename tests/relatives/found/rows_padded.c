/* SPDX-License-Identifier: Apache-2.0 */
/* A pitch that is a sum. */
/* new: --shape a[N*(M+1)+1] --inout a --shape x[N,M+1] --size N=300,M=310 */
#include <stdint.h>
void rows_padded(double *a, const double *x, int64_t N, int64_t M)
{

    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j <= M; j++)
            a[i * (M + 1) + j] = a[i * (M + 1) + j + 1] * 0.5 + x[i * (M + 1) + j];
}
