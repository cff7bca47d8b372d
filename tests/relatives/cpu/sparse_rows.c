/* SPDX-License-Identifier: Apache-2.0 */
/* new: --shape start[N] --shape col[E] --shape val[E] --shape x[N] --shape y[N] --index start --index col --size N=300,E=310 */
#include <stdint.h>

void sparse_rows(const int32_t *start, const int32_t *col, const double *val, const double *x,
                 double *y, int64_t N, int64_t E)
{
    int64_t r, k, last;
    double sum;
    const double *v;
    for (r = 0; r < N; r++) {
        sum = y[r];
        last = start[r];
        v = val;
        for (k = 0; k < last; k++)
            sum += v[k] * x[col[k]];
        y[r] = sum;
    }
}
