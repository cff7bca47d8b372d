/* SPDX-License-Identifier: Apache-2.0 */
/* The rule of task.h, struct hone_tolerance, on the sums of one comparison: what the judge decides
 * by, and what calibration looks for room in. */
#include <math.h>
#include "workspace/task/task.h"

#define MIN_ELEMENTS 32   /* the spread of fewer says little */
#define NORM_ROOM    0.25 /* of the elements' bound: random errors of one size stay below it */
#define BIAS_ROOM    (1. / 16)
#define CHANCE       6. /* standard deviations */
#define NO_BOUND     1e30

/* ||r - mean(r)|| */
static double centred_norm(const struct hone_error_sums *sums)
{
    double n = (double)hone_max_i64(sums->n, 1);
    return sqrt(fmax(sums->ref_squares - sums->ref_sum * sums->ref_sum / n, 0));
}

double hone_error_rel_l2(const struct hone_error_sums *sums)
{
    double centred = centred_norm(sums);
    return centred > 0 ? sqrt(sums->err_squares) / centred : (double)NAN;
}

static double chance(const struct hone_error_sums *sums)
{
    double of_item = (double)sums->n / (double)hone_max_i64(sums->n_items, 1);
    return CHANCE * sqrt(sums->err_squares * fmax(of_item, 1));
}

double hone_error_bias(const struct hone_error_sums *sums)
{
    double off = fmax(fabs(sums->err_sum), fabs(sums->toward_sum)) - chance(sums);
    return off > 0 && sums->size_sum > 0 ? off / sums->size_sum : 0;
}

/* A bound beyond doubles, of squares of 1e160, says nothing. */
static double times(double value, double bound)
{
    if (!(value > 0) || isinf(bound))
        return 0;
    return bound > 0 ? fmin(value / bound, NO_BOUND) : NO_BOUND;
}

double hone_tolerance_factor(const struct hone_tolerance *tol, const struct hone_error_sums *sums,
                             enum hone_tolerance_test test)
{
    double n = (double)sums->n;
    bool is_whole = sums->is_plain && sums->n >= MIN_ELEMENTS;
    switch (test) {
    case HONE_TOLERANCE_ELEMENT:
        return times(sums->worst, tol->rtol);
    case HONE_TOLERANCE_NORM: {
        double room = NORM_ROOM * (tol->rtol * sqrt(sums->size_squares) + tol->atol * sqrt(n));
        double bound = fmax(tol->rel_l2 * centred_norm(sums), room);
        return is_whole && tol->rel_l2 > 0 ? times(sqrt(sums->err_squares), bound) : 0;
    }
    case HONE_TOLERANCE_BIAS: {
        double part = fmax(tol->bias, BIAS_ROOM * tol->rtol);
        double off = fmax(fabs(sums->err_sum), fabs(sums->toward_sum));
        double bound = part * sums->size_sum + tol->atol * n + chance(sums);
        return is_whole && tol->bias > 0 && sums->n_items > 0 ? times(off, bound) : 0;
    }
    case HONE_N_TOLERANCE_TESTS:
        break;
    }
    return 0;
}
