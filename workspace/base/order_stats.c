/* SPDX-License-Identifier: Apache-2.0 */
#include "workspace/base/order_stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int hone_by_f64(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int hone_by_i64(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

double *hone_sorted_copy(const double *values, size_t n)
{
    double *copy = hone_malloc((n > 0 ? n : 1) * sizeof *copy);
    if (n > 0)
        memcpy(copy, values, n * sizeof *copy);
    qsort(copy, n, sizeof *copy, hone_by_f64);
    return copy;
}

double hone_sorted_quantile(const double *sorted, size_t n, double q)
{
    if (n == 0)
        return (double)NAN;
    double at = q * (double)(n - 1);
    size_t i = (size_t)at;
    if (i + 1 >= n)
        return sorted[n - 1];
    return sorted[i] + (at - (double)i) * (sorted[i + 1] - sorted[i]);
}

double hone_quantile(const double *values, size_t n, double q)
{
    HONE_AUTOFREE double *sorted = hone_sorted_copy(values, n);
    return hone_sorted_quantile(sorted, n, q);
}

double hone_median(const double *values, size_t n)
{
    return hone_quantile(values, n, 0.5);
}
