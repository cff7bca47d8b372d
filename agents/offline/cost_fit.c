/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/offline/cost_fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "workspace/base/text.h"

#define REAL_GAIN 0.05 /* log2 */

struct edges {
    struct hone_cost_edge *v;
    size_t n, *first; /* by kernel; the last one ends at n */
};

static bool is_relative(const struct hone_lattice *a, const struct hone_lattice *b)
{
    return strcmp(a->task, b->task) == 0 || strcmp(a->family, b->family) == 0;
}

/* Every pair of right states that one strategy parts; a strategy of a kernel weighs one. */
static void add_strategy(const struct hone_lattice *l, size_t kernel, size_t bit,
                         struct hone_pool *pool, struct edges *to)
{
    const struct hone_strategy *s = hone_strategy_find(l->target, l->strategies[bit].id);
    size_t first = to->n;
    for (unsigned from = 0; s && from < 1u << l->n_strategies; from++) {
        struct hone_finding findings[HONE_N_CLASSES];
        unsigned next = from | 1u << bit;
        if (next == from || !hone_lattice_is_right(l, from) || !hone_lattice_is_right(l, next))
            continue;
        struct hone_cost_edge *e = &to->v[to->n++];
        *e = (struct hone_cost_edge){.kernel = kernel, .strategy = hone_strategy_index(s)};
        const struct hone_features *f = &l->states[from].features;
        hone_cost_terms(f, findings, hone_bottlenecks(l->target, f, pool, findings), s, e->terms);
        e->gain = hone_lattice_gain(l, next) - hone_lattice_gain(l, from);
    }
    for (size_t i = first; i < to->n; i++)
        to->v[i].weight = 1 / (double)(to->n - first);
}

static double guess_of(const struct hone_cost_edge *e)
{
    return hone_strategies[e->strategy].gain;
}

/* Weighted squares of a model over the edges of one kernel; returns the weights' sum. */
static double squares(const struct edges *all, size_t kernel, const struct hone_cost_model *m,
                      double *sum)
{
    double weight = 0;
    for (size_t i = all->first[kernel]; i < all->first[kernel + 1]; i++) {
        const struct hone_cost_edge *e = &all->v[i];
        double off = hone_cost_predict(m, e->strategy, e->terms) - e->gain;
        *sum += e->weight * off * off;
        weight += e->weight;
    }
    return weight;
}

/* For each kernel: may it teach a model of a and, where it is not NULL, of b? */
static void others(struct hone_lattice *const *lattices, size_t n, const struct hone_lattice *a,
                   const struct hone_lattice *b, bool *ret)
{
    for (size_t i = 0; i < n; i++)
        ret[i] = strcmp(lattices[i]->target, a->target) == 0 && !is_relative(lattices[i], a) &&
                 !(b && is_relative(lattices[i], b));
}

/* own: what must not teach; its task, family and target are read. */
static void fit(struct hone_lattice *const *lattices, size_t n, const struct hone_lattice *own,
                const struct edges *all, struct hone_cost_model *ret)
{
    HONE_AUTOFREE bool *uses = hone_calloc(n + 1, sizeof(*uses));
    HONE_AUTOFREE bool *inner = hone_calloc(n + 1, sizeof(*inner));
    double sum = 0, weight = 0;
    others(lattices, n, own, NULL, uses);
    for (size_t i = 0; i < n; i++) {
        struct hone_cost_model without;
        if (!uses[i])
            continue;
        others(lattices, n, own, lattices[i], inner);
        hone_cost_fit(all->v, all->n, inner, &without);
        weight += squares(all, i, &without, &sum);
    }
    hone_cost_fit(all->v, all->n, uses, ret);
    ret->error = weight > 0 ? sqrt(sum / weight) : INFINITY;
}

static void add_score(const struct edges *all, size_t kernel, const struct hone_cost_model *m,
                      double limit, struct hone_cost_score *to)
{
    for (size_t i = all->first[kernel]; i < all->first[kernel + 1]; i++) {
        const struct hone_cost_edge *e = &all->v[i];
        double off = guess_of(e) - e->gain;
        bool is_gain = e->gain > REAL_GAIN,
             is_dropped = hone_cost_chance(m, e->strategy, e->terms) < limit;
        to->error_catalogue += e->weight * off * off;
        to->error_zero += e->weight * e->gain * e->gain;
        to->gainers_all += e->weight * is_gain;
        to->dropped += e->weight * is_dropped;
        to->gainers += e->weight * (is_dropped && is_gain);
    }
}

static struct edges gather(struct hone_lattice *const *lattices, size_t n, struct hone_pool *pool)
{
    struct edges all = {.n = 0};
    all.first = hone_pool_alloc(pool, (n + 1) * sizeof(*all.first));
    all.v = hone_pool_alloc(pool, (n + 1) * HONE_LATTICE_STATES * HONE_LATTICE_STRATEGIES / 2 *
                                      sizeof(*all.v));
    for (size_t i = 0; i < n; i++) {
        all.first[i] = all.n;
        for (size_t bit = 0; bit < lattices[i]->n_strategies; bit++)
            add_strategy(lattices[i], i, bit, pool, &all);
        all.first[i + 1] = all.n;
    }
    return all;
}

void hone_cost_fit_all(struct hone_lattice *const *lattices, size_t n, struct hone_pool *pool,
                       const struct hone_cost_model ***ret, double limit,
                       struct hone_cost_score *ret_score)
{
    struct edges all = gather(lattices, n, pool);
    struct hone_cost_score s = {.error = 0};
    double weight = 0;
    *ret = hone_pool_alloc(pool, (n + 1) * sizeof(**ret));
    for (size_t i = 0; i < n; i++) {
        struct hone_cost_model *m = hone_pool_alloc(pool, sizeof(*m));
        fit(lattices, n, lattices[i], &all, m);
        (*ret)[i] = m;
        weight += squares(&all, i, m, &s.error);
        add_score(&all, i, m, limit, &s);
    }
    s.gainers = s.dropped > 0 ? s.gainers / s.dropped : 0;
    s.error = sqrt(s.error / weight);
    s.error_catalogue = sqrt(s.error_catalogue / weight);
    s.error_zero = sqrt(s.error_zero / weight);
    s.dropped /= weight;
    s.gainers_all /= weight;
    *ret_score = s;
}

int hone_cost_fit_for(struct hone_lattice *const *lattices, size_t n, const char *task,
                      const char *family, const char *target, struct hone_pool *pool,
                      struct hone_cost_model *ret, struct hone_strs *ret_from, struct hone_err *err)
{
    HONE_AUTOFREE struct hone_lattice *own = hone_calloc(1, sizeof(*own));
    HONE_AUTOFREE bool *uses = hone_calloc(n + 1, sizeof(*uses));
    own->task = task;
    own->family = family;
    own->target = target;
    const struct edges all = gather(lattices, n, pool);
    others(lattices, n, own, NULL, uses);
    *ret_from = (struct hone_strs){.v = hone_pool_alloc(pool, (n + 1) * sizeof(*ret_from->v))};
    for (size_t i = 0; i < n; i++)
        if (uses[i])
            ret_from->v[ret_from->n++] = lattices[i]->kernel;
    fit(lattices, n, own, &all, ret);
    if (ret_from->n < 2 || !isfinite(ret->error) || !(ret->error > 0))
        return hone_fail(err, HONE_E_NOT_FOUND,
                         "a cost model for '%.64s' needs lattices of two other families on %s or "
                         "more",
                         task, target);
    return 0;
}
