/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/planner/credit.h"

#include <math.h>

#define PRIOR_N  2.0 /* pseudo-observations of a catalogue guess */
#define SHRINK_N 4.0 /* of the level above */
/* what other kernels did weighs no more than so many looks at this one */
#define MOST_PRIOR_N 4.0
#define BETA_P       0.85
#define ALPHA        2.0   /* of the inverse gamma: four degrees of freedom at the start */
#define DEAD_ZONE    0.004 /* log2; 0.3 % */
#define SIGMA_OF_80  1.2816
#define LEAST_SD     0.05

void hone_credit_init(struct hone_credit *credit)
{
    HONE_BUG_ON(hone_n_strategies > HONE_CREDIT_MAX);
    *credit = (struct hone_credit){.done = SHRINK_N * BETA_P, .not_done = SHRINK_N * (1 - BETA_P)};
}

struct belief { /* mean and spread of the next gain */
    double n, mean, variance, alpha;
};

/* One more level: what was seen there on top of what is believed. */
static struct belief update(struct belief b, const struct hone_credit_cell *c)
{
    if (c->n <= 0)
        return b;
    double n = b.n + c->n, mean = c->sum / c->n;
    double within = fmax(0, c->sum2 - c->n * mean * mean);
    double between = b.n * c->n / n * (mean - b.mean) * (mean - b.mean);
    double beta = b.variance * (b.alpha - 1) + (within + between) / 2;
    double alpha = b.alpha + c->n / 2;
    return (struct belief){n, (b.n * b.mean + c->sum) / n, beta / (alpha - 1), alpha};
}

/* Mean of max(0, x) of a normal x. */
static double positive_part(double mean, double sd)
{
    double z = mean / sd, density = exp(-z * z / 2) / sqrt(2 * M_PI);
    return mean * 0.5 * erfc(-z / M_SQRT2) + sd * density;
}

void hone_credit_predict(const struct hone_credit *credit, const struct hone_strategy *s,
                         enum hone_class class_id, struct hone_expectation *ret)
{
    const struct hone_credit_row *row = &credit->rows[hone_strategy_index(s)];
    double rate = credit->done / (credit->done + credit->not_done);
    double guess_sd = (s->high - s->low) / (2 * SIGMA_OF_80);
    struct belief b = {PRIOR_N, s->gain, fmax(guess_sd * guess_sd, LEAST_SD * LEAST_SD), ALPHA};
    b = update(b, &row->before);
    b.n = fmin(b.n, MOST_PRIOR_N);
    b = update(b, &row->all);
    if (class_id < HONE_N_CLASSES) {
        b.n = SHRINK_N;
        b = update(b, &row->by_class[class_id]);
    }
    double sd = fmax(sqrt(b.variance), LEAST_SD);
    *ret = (struct hone_expectation){.p_impl = (SHRINK_N * rate + row->done) /
                                               (SHRINK_N + row->done + row->not_done),
                                     .low = b.mean - SIGMA_OF_80 * sd,
                                     .gain = b.mean,
                                     .high = b.mean + SIGMA_OF_80 * sd,
                                     .positive = positive_part(b.mean, sd)};
}

void hone_credit_failed(struct hone_credit *credit, const struct hone_strategy *s)
{
    credit->rows[hone_strategy_index(s)].not_done += 1;
    credit->not_done += 1;
}

static void see(struct hone_credit_cell *c, double g)
{
    c->n += 1;
    c->sum += g;
    c->sum2 += g * g;
}

bool hone_credit_is_banned(const struct hone_credit *credit, const struct hone_strategy *strategy)
{
    return credit->rows[hone_strategy_index(strategy)].is_banned;
}

void hone_credit_note(struct hone_credit *credit, const struct hone_strategy *s,
                      enum hone_class class_id, double g_eff, enum hone_tri moved)
{
    struct hone_credit_row *row = &credit->rows[hone_strategy_index(s)];
    if (moved == HONE_TRI_UNKNOWN)
        return;
    if (moved == HONE_TRI_FALSE) { /* right, but not what was meant: no word on the idea */
        hone_credit_failed(credit, s);
        return;
    }
    row->done += 1;
    credit->done += 1;
    see(&row->all, g_eff);
    if (class_id < HONE_N_CLASSES)
        see(&row->by_class[class_id], g_eff);
}

double hone_effective_gain(double log2_gain, double se_parent, double se_child)
{
    double noise = 2 * sqrt(se_parent * se_parent + se_child * se_child) + DEAD_ZONE;
    double size = fmax(0, fabs(log2_gain) - noise);
    return log2_gain < 0 ? -size : size;
}
