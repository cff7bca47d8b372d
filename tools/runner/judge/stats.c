/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/runner/judge/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_GAIN_FOR_SAME 0.1 /* a noisier run cannot tell "same" from anything */
#define MAX_CORRELATION   0.9 /* of neighbours; about what 30 rounds can tell from 1 */

/* Largest k with P(Binomial(n, 1/2) < k) <= 2.5 %: the k-th smallest and k-th largest value bound
 * the median. */
static size_t median_rank(size_t n)
{
    double log_half_n = (double)n * log(0.5), tail = 0;
    for (size_t k = 0; k <= n / 2; k++) {
        double log_choose =
            lgamma((double)n + 1) - lgamma((double)k + 1) - lgamma((double)(n - k) + 1);
        tail += exp(log_choose + log_half_n);
        if (tail > 0.025)
            return k;
    }
    return n / 2;
}

static struct hone_interval student_interval(const double *values, size_t n)
{
    static const double t_975[] = {0, 0, 12.706, 4.303, 3.182, 2.776};
    double mean = 0, squares = 0;
    for (size_t i = 0; i < n; i++)
        mean += values[i] / (double)n;
    for (size_t i = 0; i < n; i++)
        squares += (values[i] - mean) * (values[i] - mean);
    double half = t_975[n] * sqrt(squares / (double)(n - 1) / (double)n);
    return (struct hone_interval){.mid = mean, .low = mean - half, .high = mean + half};
}

struct hone_interval hone_median_interval(const double *values, size_t n)
{
    if (n == 0)
        return (struct hone_interval){.mid = NAN, .low = -INFINITY, .high = INFINITY};
    if (n == 1)
        return (struct hone_interval){.mid = values[0], .low = -INFINITY, .high = INFINITY};
    if (n < 6)
        return student_interval(values, n);
    HONE_AUTOFREE double *sorted = hone_sorted_copy(values, n);
    size_t k = median_rank(n);
    return (struct hone_interval){
        .mid = hone_sorted_quantile(sorted, n, 0.5), .low = sorted[k - 1], .high = sorted[n - k]};
}

/* How much neighbours in time lie on the same side of the median, as a correlation of normal values
 * (sheppard's formula): robust against outliers. 0 when they do not. */
static double neighbour_correlation(const double *values, size_t n)
{
    double mid = hone_median(values, n), sum = 0;
    for (size_t i = 0; i + 1 < n; i++)
        sum += (values[i] > mid) == (values[i + 1] > mid) ? 1 : -1;
    double rho = sin(M_PI / 2 * sum / (double)(n - 1));
    return fmin(fmax(rho, 0), MAX_CORRELATION);
}

struct hone_interval hone_series_interval(const double *values, size_t n)
{
    struct hone_interval interval = hone_median_interval(values, n);
    if (n < 6)
        return interval;
    double rho = neighbour_correlation(values, n);
    double stretch = sqrt((1 + rho) / (1 - rho));
    interval.low = interval.mid - stretch * (interval.mid - interval.low);
    interval.high = interval.mid + stretch * (interval.high - interval.mid);
    return interval;
}

double hone_aa_noise(const double *log_ratios, size_t n)
{
    if (n < 2)
        return INFINITY;
    struct hone_interval interval = hone_median_interval(log_ratios, n);
    return (interval.high - interval.low) / 2;
}

double hone_least_gain(double aa_noise)
{
    return fmax(0.005, 3 * aa_noise);
}

struct hone_interval hone_combine_logs(const struct hone_interval *logs, size_t n)
{
    struct hone_interval sum = {0};
    double below = 0, above = 0;
    for (size_t i = 0; i < n; i++) {
        sum.mid += logs[i].mid / (double)n;
        below += (logs[i].mid - logs[i].low) * (logs[i].mid - logs[i].low);
        above += (logs[i].high - logs[i].mid) * (logs[i].high - logs[i].mid);
    }
    sum.low = sum.mid - sqrt(below) / (double)n;
    sum.high = sum.mid + sqrt(above) / (double)n;
    return sum;
}

const char *hone_ratio_word(double low, double high, double least_gain)
{
    if (!isfinite(low) || !isfinite(high) || !isfinite(least_gain))
        return "inconclusive";
    if (low > 1 + least_gain)
        return "faster";
    if (high < 1 / (1 + least_gain))
        return "slower";
    if (least_gain <= MAX_GAIN_FOR_SAME && low >= 1 / (1 + least_gain) && high <= 1 + least_gain)
        return "same";
    return "inconclusive";
}

bool hone_should_stop(const struct hone_confidence_rule *rule,
                      const struct hone_interval *log_ratio, double aa_noise, size_t n_pairs)
{
    if (n_pairs < rule->min_pairs)
        return false;
    double half = (log_ratio->high - log_ratio->low) / 2;
    if (n_pairs >= rule->enough_pairs && half <= fmax(0.0025, isfinite(aa_noise) ? aa_noise : 0))
        return true;
    double gain = isfinite(aa_noise) ? log1p(hone_least_gain(aa_noise)) : INFINITY;
    bool is_beyond = log_ratio->low > gain || log_ratio->high < -gain;
    if (n_pairs >= rule->enough_pairs && half < rule->claim_half && is_beyond)
        return true;
    bool is_clear = log_ratio->low > rule->wide_log || log_ratio->high < -rule->wide_log;
    return n_pairs >= rule->wide_pairs && is_clear;
}
