/* SPDX-License-Identifier: Apache-2.0 */
/* Robust statistics of timings: medians, their intervals, ratios, and the words that
 * follow from them.
 *
 * Ratios are handled as logarithms throughout. Intervals are 95 %. Pure functions; any thread. */
#ifndef HONE_RUNNER_STATS_H
#define HONE_RUNNER_STATS_H

#include "workspace/base/order_stats.h" /* hone_median, hone_quantile */

struct hone_interval {
    double mid, low, high;
};

/* Median with its 95 % interval. n >= 6: order statistics, exact whatever the distribution (the
 * rank is the largest whose binomial tail stays within 2.5 %). n = 2..5: Student's t around the
 * mean of the logs (no rank gives 95 % there). n = 1: the interval is unbounded. */
struct hone_interval hone_median_interval(const double *values, size_t n);

/* The same for values in the order of time: wider by sqrt((1 + r) / (1 - r)), r the correlation of
 * neighbours when it is positive (a machine that is in one state for a while and then in another
 * makes n rounds worth fewer; variance of a mean of an AR(1) series, e.g. Zieba 2010). */
struct hone_interval hone_series_interval(const double *values, size_t n);

/* A/A noise of log(first / second) pairs of the same arm: half the width of
 * their median's interval. */
double hone_aa_noise(const double *log_ratios, size_t n);

/* The least gain that may be claimed, as a fraction: max(0.5 %, 3 x noise). */
double hone_least_gain(double aa_noise);

/* Mean of independent logs with their intervals combined by squares (a geometric
 * mean of ratios). */
struct hone_interval hone_combine_logs(const struct hone_interval *logs, size_t n);

/* "faster", "slower", "same" or "inconclusive" for a ratio's interval (not logs). */
const char *hone_ratio_word(double low, double high, double least_gain);

/* The fixed stop rule of a comparison; see docs/decisions. */
struct hone_confidence_rule {
    size_t min_pairs;    /* never before */
    size_t wide_pairs;   /* from here on a clear difference ends it */
    size_t enough_pairs; /* from here on a narrow interval ends it */
    double wide_log;     /* clear: the whole interval lies beyond this */
    double claim_half;   /* from enough_pairs on: narrower than this to either side, and the whole
                            interval beyond the least gain, ends it too; 0: never */
};
bool hone_should_stop(const struct hone_confidence_rule *rule,
                      const struct hone_interval *log_ratio, double aa_noise, size_t n_pairs);

#endif
