/* SPDX-License-Identifier: Apache-2.0 */
/* Medians, intervals, words: known inputs, coverage on synthetic data, A/A that must not be called
 * a gain. */
#include "tests/unit/unit.h"

#include <math.h>
#include <string.h>

#include "tools/runner/judge/stats.h"

/* SplitMix64 to normal, so that the test repeats exactly. */
static double next_normal(uint64_t *state)
{
    double sum = -6;
    for (int i = 0; i < 12; i++) {
        uint64_t z = (*state += 0x9e3779b97f4a7c15u);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        sum += (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
    }
    return sum;
}

START_TEST(test_known_values)
{
    const double v[] = {5, 1, 4, 2, 3};
    ck_assert_double_eq(hone_median(v, 5), 3);
    ck_assert_double_eq(hone_quantile(v, 5, 0), 1);
    ck_assert_double_eq(hone_quantile(v, 5, 0.25), 2);
    ck_assert(isnan(hone_median(v, 0)));
    const double nine[] = {9, 8, 7, 6, 5, 4, 3, 2, 1};
    struct hone_interval i = hone_median_interval(nine, 9); /* ranks 2 and 8: coverage 96.1 % */
    ck_assert_double_eq(i.mid, 5);
    ck_assert_double_eq(i.low, 2);
    ck_assert_double_eq(i.high, 8);
}
END_TEST

START_TEST(test_few_values)
{
    const double three[] = {1, 2, 3}; /* t = 4.303, s = 1 */
    struct hone_interval i = hone_median_interval(three, 3);
    ck_assert_double_eq_tol(i.mid, 2, 1e-12);
    ck_assert_double_eq_tol(i.high, 2 + 4.303 / sqrt(3), 1e-9);
    i = hone_median_interval(three, 1);
    ck_assert(isinf(i.low) && isinf(i.high));
    ck_assert(isinf(hone_aa_noise(three, 1)));
}
END_TEST

START_TEST(test_coverage)
{
    uint64_t state = 7;
    int n_inside = 0;
    for (int round = 0; round < 2000; round++) {
        double v[15];
        for (int i = 0; i < 15; i++)
            v[i] = next_normal(&state);
        struct hone_interval i = hone_median_interval(v, 15);
        n_inside += i.low <= 0 && 0 <= i.high;
    }
    ck_assert_int_ge(n_inside, 1880); /* 95 % or more, less three standard deviations */
    ck_assert_int_le(n_inside, 1980); /* and not so wide that it says nothing */
}
END_TEST

/* The whole rule on equal arms: how often is a gain claimed that is not there? */
START_TEST(test_same_arms_are_not_faster)
{
    uint64_t state = 11;
    int n_false = 0, n_seen = 0;
    for (int round = 0; round < 400; round++) {
        double ratio[30], noise[58], moved[30], before_a = 0, before_b = 0;
        for (int i = 0; i < 30; i++) {
            double a = 0.02 * next_normal(&state), b = 0.02 * next_normal(&state);
            ratio[i] = b - a;
            moved[i] = b - a + log(1.2);
            if (i > 0) {
                noise[2 * i - 2] = a - before_a;
                noise[2 * i - 1] = b - before_b;
            }
            before_a = a;
            before_b = b;
        }
        double gain = hone_least_gain(hone_aa_noise(noise, 58));
        struct hone_interval i = hone_median_interval(ratio, 30),
                             m = hone_median_interval(moved, 30);
        n_false += strcmp(hone_ratio_word(exp(i.low), exp(i.high), gain), "faster") == 0;
        n_seen += strcmp(hone_ratio_word(exp(m.low), exp(m.high), gain), "faster") == 0;
    }
    ck_assert_int_le(n_false, 4); /* 1 % */
    ck_assert_int_ge(n_seen, 396);
}
END_TEST

START_TEST(test_words)
{
    static const struct {
        double low, high, gain;
        const char *want;
    } rows[] = {
        {1.02, 1.05, 0.01, "faster"},        {1.005, 1.05, 0.01, "inconclusive"},
        {0.9, 0.95, 0.01, "slower"},         {0.995, 1.005, 0.01, "same"},
        {0.9, 1.1, 0.01, "inconclusive"},    {0.9, 1.1, 3, "inconclusive"},
        {5, INFINITY, 0.01, "inconclusive"}, {NAN, 2, 0.01, "inconclusive"},
    };
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++)
        ck_assert_msg(
            strcmp(hone_ratio_word(rows[i].low, rows[i].high, rows[i].gain), rows[i].want) == 0,
            "row %zu", i);
    ck_assert_double_eq(hone_least_gain(0), 0.005);
    ck_assert_double_eq_tol(hone_least_gain(0.01), 0.03, 1e-12);
}
END_TEST

/* A machine that is in one state and then in another: the rounds are worth fewer. */
START_TEST(test_series)
{
    double values[40];
    for (size_t i = 0; i < 40; i++)
        values[i] = i % 2 == 0 ? 0.1 : -0.1;
    struct hone_interval plain = hone_median_interval(values, 40),
                         series = hone_series_interval(values, 40);
    ck_assert_double_eq(plain.low, series.low);
    ck_assert_double_eq(plain.high, series.high);
    for (size_t i = 0; i < 40; i++)
        values[i] = (i / 10 % 2 == 0 ? 0.1 : -0.1) + 0.001 * (double)(i % 7);
    plain = hone_median_interval(values, 40);
    series = hone_series_interval(values, 40);
    ck_assert_double_eq(plain.mid, series.mid);
    ck_assert_double_gt(series.high - series.low, 3 * (plain.high - plain.low));
    ck_assert(isinf(hone_series_interval(values, 1).high));
}
END_TEST

START_TEST(test_combine)
{
    const struct hone_interval logs[] = {{.mid = 1, .low = 0.7, .high = 1.3},
                                         {.mid = 3, .low = 2.6, .high = 3.4}};
    struct hone_interval all = hone_combine_logs(logs, 2);
    ck_assert_double_eq_tol(all.mid, 2, 1e-12);
    ck_assert_double_eq_tol(all.high, 2.25, 1e-12); /* sqrt(0.09 + 0.16) / 2 */
    ck_assert_double_eq_tol(all.low, 1.75, 1e-12);
}
END_TEST

START_TEST(test_stop_rule)
{
    const struct hone_confidence_rule rule = {
        .min_pairs = 3, .wide_pairs = 10, .enough_pairs = 20, .wide_log = 0.1};
    struct hone_interval narrow = {.mid = 0, .low = -0.002, .high = 0.002},
                         far = {.mid = 1, .low = 0.5, .high = 1.5};
    struct hone_interval wide = {.mid = 0, .low = -0.05, .high = 0.05};
    ck_assert(!hone_should_stop(&rule, &narrow, 0, 2));
    ck_assert(!hone_should_stop(&rule, &narrow, 0, 19));
    ck_assert(hone_should_stop(&rule, &narrow, 0, 20));
    ck_assert(!hone_should_stop(&rule, &far, 0, 9));
    ck_assert(hone_should_stop(&rule, &far, 0, 10));
    ck_assert(!hone_should_stop(&rule, &wide, 0.01, 100));
    ck_assert(hone_should_stop(&rule, &wide, 0.06, 20));
    /* narrow enough for the claim, and wholly beyond the least gain */
    struct hone_confidence_rule claims = rule;
    claims.claim_half = 0.03;
    const struct hone_interval gain = {.mid = 0.06, .low = 0.04, .high = 0.08};
    ck_assert(!hone_should_stop(&rule, &gain, 0.005, 20));
    ck_assert(!hone_should_stop(&claims, &gain, 0.005, 19));
    ck_assert(hone_should_stop(&claims, &gain, 0.005, 20));
    ck_assert(!hone_should_stop(&claims, &gain, 0.019, 20)); /* within what noise may give */
    ck_assert(!hone_should_stop(&claims, &wide, 0.001, 20));
}
END_TEST

UNIT_MAIN("stats", test_known_values, test_few_values, test_coverage, test_same_arms_are_not_faster,
          test_words, test_series, test_combine, test_stop_rule)
