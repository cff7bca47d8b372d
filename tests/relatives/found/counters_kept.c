/* SPDX-License-Identifier: Apache-2.0 */
/* new: --shape A[N,M] --shape y[N] --shape z[N] --size N=300,M=310 */
/* Each of these scalars carries a value: none may be declared in a loop. */
#include <stdint.h>
void counters_kept(const double *A, double *y, double *z, int64_t N, int64_t M)
{
    int64_t i, j, last = 0, k;
    double sum, run = 0, old;
    for (i = 0; i < N; i++) {
        if (i == 0)
            old = 1;
        sum = old;
        for (j = last; j < M; j++) {
            sum += A[i * M + j];
            if (sum > 2)
                break;
        }
        last = j < M ? j : 0;
        run += sum;
        old = A[i * M + last];
        y[i] = run;
        for (k = 0; k < i; k++)
            z[k] = sum;
        z[i] = (double)k;
    }
}
