/* SPDX-License-Identifier: Apache-2.0 */
/* Comparators for qsort, and quantiles. Pure functions; any thread. */
#ifndef HONE_BASE_ORDER_STATS_H
#define HONE_BASE_ORDER_STATS_H

#include "workspace/base/base.h"

/* For qsort over double and int64_t, smallest first. No NaN. */
int hone_by_f64(const void *a, const void *b);
int hone_by_i64(const void *a, const void *b);

/* Quantile q in 0..1 by linear interpolation; NaN for n == 0. The first sorts a copy, the second
 * takes values that are sorted. */
double hone_quantile(const double *values, size_t n, double q);
double hone_sorted_quantile(const double *sorted, size_t n, double q);
double hone_median(const double *values, size_t n);
double *hone_sorted_copy(const double *values, size_t n); /* owned by the caller */

#endif
