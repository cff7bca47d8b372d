/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/offline/prior_fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BANDWIDTH 0.5 /* of likeness, in standard deviations of a feature */
#define LEVELS    4   /* versions with fewer strategies than this are where choices matter */

/* Mean gain of one strategy of one lattice, each number of strategies that are on counting alike.
 */
static bool mean_gain(const struct hone_lattice *l, size_t bit, double *ret)
{
    double sum[LEVELS] = {0}, total = 0;
    int n[LEVELS] = {0}, n_levels = 0;
    for (unsigned s = 0; s < 1u << l->n_strategies; s++) {
        int level = __builtin_popcount(s);
        unsigned next = s | 1u << bit;
        if (next == s || level >= LEVELS || !hone_lattice_is_right(l, s) ||
            !hone_lattice_is_right(l, next))
            continue;
        sum[level] += hone_lattice_gain(l, next) - hone_lattice_gain(l, s);
        n[level]++;
    }
    for (int i = 0; i < LEVELS; i++) {
        total += n[i] > 0 ? sum[i] / n[i] : 0;
        n_levels += n[i] > 0;
    }
    *ret = n_levels > 0 ? total / n_levels : 0;
    return n_levels > 0;
}

static double size_of(const struct hone_lattice *l, int feature)
{
    return log2(1 + fabs(l->states[0].features.v[feature].value));
}

static bool is_present(const struct hone_lattice *l, int feature)
{
    return l->states[0].features.v[feature].is_present;
}

/* Of a feature of the baselines of one target; 0: too few have it. */
static double spread_of(struct hone_lattice *const *all, size_t n, const char *target, int feature)
{
    double sum = 0, squares = 0, count = 0;
    for (size_t i = 0; i < n; i++) {
        if (strcmp(all[i]->target, target) != 0 || !is_present(all[i], feature))
            continue;
        double size = size_of(all[i], feature);
        sum += size;
        squares += size * size;
        count++;
    }
    return count < 3 ? 0 : sqrt(fmax(squares / count - sum * sum / (count * count), 0));
}

/* 0 to 1; of other targets 1, for they share no strategies. */
static double likeness(struct hone_lattice *const *all, size_t n, const struct hone_lattice *a,
                       const struct hone_lattice *b)
{
    double sum = 0, count = 0;
    for (int f = 0; f < HONE_N_FEATURES; f++) {
        if (!is_present(a, f) || !is_present(b, f))
            continue;
        double spread = spread_of(all, n, a->target, f);
        if (spread < 1e-6)
            continue;
        sum += pow((size_of(a, f) - size_of(b, f)) / spread, 2);
        count++;
    }
    return count > 0 ? exp(-sum / count / (2 * BANDWIDTH * BANDWIDTH)) : 1;
}

/* The same task, or another one of its family, on whatever target. */
static bool is_relative(const struct hone_lattice *a, const struct hone_lattice *b)
{
    return strcmp(a->task, b->task) == 0 || strcmp(a->family, b->family) == 0;
}

static void fit(struct hone_lattice *const *lattices, size_t n, size_t skip, bool is_like,
                struct hone_prior *ret)
{
    *ret = (struct hone_prior){.n_lattices = 0};
    for (size_t k = 0; k < n; k++) {
        const struct hone_lattice *l = lattices[k];
        if (k == skip || (skip < n && is_relative(l, lattices[skip])))
            continue;
        double weight = is_like && skip < n ? likeness(lattices, n, lattices[skip], l) : 1;
        ret->n_lattices++;
        for (size_t i = 0; i < l->n_strategies; i++) {
            const struct hone_strategy *s = hone_strategy_find(l->target, l->strategies[i].id);
            double gain = 0;
            if (!s || !mean_gain(l, i, &gain))
                continue;
            struct hone_credit_cell *c = &ret->gains[hone_strategy_index(s)];
            c->n += weight;
            c->sum += weight * gain;
            c->sum2 += weight * gain * gain;
        }
    }
}

void hone_prior_fit(struct hone_lattice *const *lattices, size_t n, size_t skip,
                    struct hone_prior *ret)
{
    fit(lattices, n, skip, false, ret);
}

void hone_prior_fit_like(struct hone_lattice *const *lattices, size_t n, size_t skip,
                         struct hone_prior *ret)
{
    fit(lattices, n, skip, true, ret);
}
