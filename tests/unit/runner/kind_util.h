/* SPDX-License-Identifier: Apache-2.0 */
/* What each kind of content must look like, for 20 rows of 30 float32 values: for the host's and
 * the device's. */
#ifndef HONE_TESTS_KIND_UTIL_H
#define HONE_TESTS_KIND_UTIL_H

#include <math.h>
#include <stdbool.h>

#include "tools/runner/values/kinds.h"

#define KIND_ROWS    20
#define KIND_COLUMNS 30
#define KIND_N       (KIND_ROWS * KIND_COLUMNS)

static inline int kind_count(const double *v, bool (*is_one)(double))
{
    int n = 0;
    for (int i = 0; i < KIND_N; i++)
        n += is_one(v[i]);
    return n;
}

static inline bool kind_is_zero(double v)
{
    return v == 0;
}
static inline bool kind_is_negative_zero(double v)
{
    return v == 0 && signbit(v);
}
static inline bool kind_is_nan(double v)
{
    return isnan(v);
}
static inline bool kind_is_infinite(double v)
{
    return isinf(v);
}
static inline bool kind_is_inside(double v) /* 0 to 1 */
{
    return v > 0 && v < 1;
}
static inline bool kind_is_wide(double v)
{
    return fabs(v) >= 0.99e5 && fabs(v) <= 1.01e7;
}
static inline bool kind_is_big(double v)
{
    return fabs(v) > 1e4;
}
static inline bool kind_is_denormal(double v)
{
    return fabs(v) < 0x1p-126;
}
static inline bool kind_is_byte(double v)
{
    return v >= 0 && v <= 255 && v == floor(v);
}
static inline bool kind_is_bit(double v)
{
    return v == 0 || v == 1;
}
static inline bool kind_is_power(double v)
{
    int exponent = 0;
    return fabs(frexp(v, &exponent)) == 0.5 && exponent >= -7 && exponent <= 8;
}
static inline bool kind_is_short(double v)
{
    return fabs(v) <= 1;
}
static inline bool kind_is_edge(double v)
{
    return fabs(v) == 1;
}

static inline int kind_n_different(const double *v)
{
    int n = 0;
    for (int i = 0; i < KIND_N; i++) {
        bool is_new = true;
        for (int k = 0; k < i && is_new; k++)
            is_new = v[k] != v[i];
        n += is_new;
    }
    return n;
}

static inline bool kind_has_one_in_a_row(const double *v)
{
    for (int r = 0; r < KIND_ROWS; r++) {
        double sum = 0;
        for (int c = 0; c < KIND_COLUMNS; c++)
            sum += v[r * KIND_COLUMNS + c];
        if (sum != 1)
            return false;
    }
    return kind_count(v, kind_is_bit) == KIND_N;
}

static inline bool kind_is_laid_out(const double *v, bool (*is_zero)(int row, int column))
{
    for (int i = 0; i < KIND_N; i++)
        if ((v[i] == 0) != is_zero(i / KIND_COLUMNS, i % KIND_COLUMNS))
            return false;
    return true;
}
static inline bool kind_off_diagonal(int row, int column)
{
    return row != column;
}
static inline bool kind_above_diagonal(int row, int column)
{
    return column > row;
}

static inline bool kind_repeats(const double *v, int step) /* rows (of columns) that are alike */
{
    for (int i = 0; i < KIND_N; i++) {
        int like = step == 1 ? i - i % KIND_COLUMNS : i % KIND_COLUMNS;
        if (v[i] != v[like])
            return false;
    }
    return kind_n_different(v) > KIND_ROWS / 2;
}

/* Neighbours against the whole: far less for a series, as much for noise. */
static inline double kind_roughness(const double *v)
{
    double steps = 0, spread = 0, mean = 0;
    for (int i = 0; i < KIND_N; i++)
        mean += v[i] / KIND_N;
    for (int i = 1; i < KIND_N; i++) {
        steps += (v[i] - v[i - 1]) * (v[i] - v[i - 1]);
        spread += (v[i] - mean) * (v[i] - mean);
    }
    return steps / spread;
}

static inline bool kind_falls(const double *v)
{
    for (int i = 1; i < KIND_N; i++)
        if (!(v[i] < v[i - 1]))
            return false;
    return true;
}

static inline bool kind_cancels(const double *v)
{
    for (int i = 1; i < KIND_N; i += 2)
        if (v[i] != -v[i - 1] || v[i] == 0)
            return false;
    return true;
}

/* Some that carry the sums, more that are nearly nothing. */
static inline bool kind_has_few_heavy(const double *v)
{
    int n_heavy = 0, n_light = 0;
    for (int i = 0; i < KIND_N; i++) {
        n_heavy += fabs(v[i]) >= 8;
        n_light += fabs(v[i]) < 0.01;
    }
    return n_heavy > 0 && n_light > KIND_N / 4;
}

/* Each row is the one before it but for a few elements; of all rows some are. */
static inline bool kind_has_near_rows(const double *v)
{
    int n_other_rows = 0;
    for (int r = 1; r < KIND_ROWS; r++) {
        int n = 0;
        for (int c = 0; c < KIND_COLUMNS; c++)
            n += v[r * KIND_COLUMNS + c] != v[(r - 1) * KIND_COLUMNS + c];
        if (n > 6)
            return false;
        n_other_rows += n > 0;
    }
    return n_other_rows > 0;
}

/* Kinds that are older than this file have tests of their own. */
static inline bool kind_looks_right(enum hone_distribution kind, const double *v)
{
    int zeros = kind_count(v, kind_is_zero);
    switch ((int)kind) {
    case HONE_DIST_SPARSE:
        return zeros < KIND_N || kind_n_different(v) == 1; /* its shares: kinds_test.c */
    case HONE_DIST_RELU:
        return zeros > KIND_N / 3 && zeros < 2 * KIND_N / 3;
    case HONE_DIST_UNIT:
        return kind_count(v, kind_is_inside) == KIND_N && kind_roughness(v) > 1.5;
    case HONE_DIST_CLIPPED:
        return kind_count(v, kind_is_short) == KIND_N && kind_count(v, kind_is_edge) > KIND_N / 3;
    case HONE_DIST_HUGE:
        return kind_count(v, kind_is_big) > KIND_N / 2;
    case HONE_DIST_WIDE:
        return kind_count(v, kind_is_wide) == KIND_N;
    case HONE_DIST_DENORMAL:
        return kind_count(v, kind_is_denormal) == KIND_N && zeros < KIND_N / 2 &&
               kind_count(v, kind_is_negative_zero) > KIND_N / 8;
    case HONE_DIST_ONE_HOT:
        return kind_has_one_in_a_row(v);
    case HONE_DIST_COLUMNS:
        return kind_repeats(v, KIND_COLUMNS);
    case HONE_DIST_ROWS:
        return kind_repeats(v, 1);
    case HONE_DIST_DIAGONAL:
        return kind_is_laid_out(v, kind_off_diagonal);
    case HONE_DIST_TRIANGULAR:
        return kind_is_laid_out(v, kind_above_diagonal);
    case HONE_DIST_BYTES:
        return kind_count(v, kind_is_byte) == KIND_N && kind_n_different(v) > 150;
    case HONE_DIST_BINARY:
        return kind_count(v, kind_is_bit) == KIND_N && zeros > KIND_N / 3 && zeros < 400;
    case HONE_DIST_WALK:
        return kind_roughness(v) < 0.5;
    case HONE_DIST_POWERS:
        return kind_count(v, kind_is_power) == KIND_N && kind_n_different(v) > 20;
    case HONE_DIST_RUNS:
        return kind_n_different(v) > 1 && kind_n_different(v) <= KIND_N / 2;
    case HONE_DIST_FEW:
        return kind_n_different(v) >= 2 && kind_n_different(v) <= 8;
    case HONE_DIST_DESCENDING:
        return kind_falls(v);
    case HONE_DIST_CANCELLING:
        return kind_cancels(v);
    case HONE_DIST_NAN:
        return kind_count(v, kind_is_nan) >= 1 && kind_count(v, kind_is_nan) < KIND_N / 8;
    case HONE_DIST_INF:
        return kind_count(v, kind_is_infinite) >= 1 && kind_count(v, kind_is_infinite) < KIND_N / 8;
    case HONE_DIST_BORDERS:
        return kind_has_few_heavy(v);
    case HONE_DIST_NEAR_ROWS:
        return kind_has_near_rows(v);
    default:
        return true;
    }
}

/* Values of the roles that are no numbers; bound 17. */
static inline bool kind_role_is_right(enum hone_role role, const double *v)
{
    for (int i = 0; i < KIND_N; i++) {
        bool is_good = role != HONE_ROLE_POSITIVE || v[i] > 0;
        if (role == HONE_ROLE_INDEX)
            is_good = v[i] >= 0 && v[i] < 17 && v[i] == floor(v[i]);
        else if (role == HONE_ROLE_MASK)
            is_good = v[i] == 0 || v[i] == 1;
        else if (role == HONE_ROLE_OFFSETS)
            is_good = i == 0            ? v[i] == 0
                      : i == KIND_N - 1 ? v[i] == 17 && v[i] >= v[i - 1]
                                        : v[i] >= v[i - 1];
        if (!is_good)
            return false;
    }
    for (int r = 0; r < KIND_ROWS && role == HONE_ROLE_PROBABILITY; r++) {
        double sum = 0;
        for (int c = 0; c < KIND_COLUMNS; c++)
            sum += v[r * KIND_COLUMNS + c];
        if (!(fabs(sum - 1) < 1e-5))
            return false;
    }
    return true;
}

#endif
