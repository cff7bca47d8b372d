/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/offline/prior_fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEVELS 4 /* versions with fewer strategies than this are where choices matter */

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

void hone_prior_fit(struct hone_lattice *const *lattices, size_t n, size_t skip,
                    struct hone_prior *ret)
{
    *ret = (struct hone_prior){.n_lattices = 0};
    for (size_t k = 0; k < n; k++) {
        const struct hone_lattice *l = lattices[k];
        if (k == skip || (skip < n && strcmp(l->task, lattices[skip]->task) == 0))
            continue;
        ret->n_lattices++;
        for (size_t i = 0; i < l->n_strategies; i++) {
            const struct hone_strategy *s = hone_strategy_find(l->target, l->strategies[i].id);
            double gain = 0;
            if (!s || !mean_gain(l, i, &gain))
                continue;
            struct hone_credit_cell *c = &ret->gains[hone_strategy_index(s)];
            c->n += 1;
            c->sum += gain;
            c->sum2 += gain * gain;
        }
    }
}
