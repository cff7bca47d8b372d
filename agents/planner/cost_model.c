/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/planner/cost_model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "workspace/base/text.h"

#define HOLD_TERMS    1.0 /* pseudo-observations that hold a weight toward zero */
#define HOLD_STRATEGY 2.0

void hone_cost_terms(const struct hone_features *f, const struct hone_finding *findings,
                     size_t n_findings, const struct hone_strategy *s, double ret[HONE_COST_TERMS])
{
    double share = hone_feature_or(f, HONE_F_PERCENT_OF_BOUND, 100);
    double room = fmin(10, fmax(0, log2(100 / fmax(share, 0.01))));
    ret[0] = 1;
    ret[1] = s->gain;
    ret[2] = room / 4;
    ret[3] = s->gain * room / 4;
    ret[4] = n_findings > 0 && hone_strategy_helps(s, findings[0].class_id);
    ret[5] = hone_feature_or(f, HONE_F_IS_THREADED, 0) > 0;
}

/* a x = b for a symmetric positive a, n x n; x takes the place of b. Cholesky, in place. */
static void solve(double *a, double *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k <= i; k++) {
            double sum = a[i * n + k];
            for (size_t j = 0; j < k; j++)
                sum -= a[i * n + j] * a[k * n + j];
            a[i * n + k] = i == k ? sqrt(fmax(sum, 1e-9)) : sum / a[k * n + k];
        }
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < i; k++)
            b[i] -= a[i * n + k] * b[k];
        b[i] /= a[i * n + i];
    }
    for (size_t i = n; i-- > 0;) {
        for (size_t k = i + 1; k < n; k++)
            b[i] -= a[k * n + i] * b[k];
        b[i] /= a[i * n + i];
    }
}

/* The weights that an edge touches: all terms, and one of the strategies. */
static size_t touched(const struct hone_cost_edge *e, size_t at[HONE_COST_TERMS + 1],
                      double value[HONE_COST_TERMS + 1])
{
    for (size_t i = 0; i < HONE_COST_TERMS; i++) {
        at[i] = i;
        value[i] = e->terms[i];
    }
    at[HONE_COST_TERMS] = HONE_COST_TERMS + e->strategy;
    value[HONE_COST_TERMS] = 1;
    return HONE_COST_TERMS + 1;
}

void hone_cost_fit(const struct hone_cost_edge *edges, size_t n, const bool *uses,
                   struct hone_cost_model *ret)
{
    enum { N = HONE_COST_WEIGHTS };
    HONE_AUTOFREE double *a = hone_calloc((size_t)N * N, sizeof(*a));
    *ret = (struct hone_cost_model){.error = INFINITY};
    for (size_t e = 0; e < n; e++) {
        size_t at[HONE_COST_TERMS + 1];
        double value[HONE_COST_TERMS + 1], w = edges[e].weight;
        if (!uses[edges[e].kernel])
            continue;
        size_t n_at = touched(&edges[e], at, value);
        for (size_t i = 0; i < n_at; i++) {
            ret->weights[at[i]] += w * value[i] * edges[e].gain;
            for (size_t k = 0; k < n_at; k++)
                a[at[i] * N + at[k]] += w * value[i] * value[k];
        }
        ret->n_edges++;
    }
    for (size_t i = 0; i < N; i++)
        a[i * N + i] += i < HONE_COST_TERMS ? HOLD_TERMS : HOLD_STRATEGY;
    solve(a, ret->weights, N);
}

double hone_cost_predict(const struct hone_cost_model *m, size_t strategy,
                         const double terms[HONE_COST_TERMS])
{
    double sum = m->weights[HONE_COST_TERMS + strategy];
    for (size_t i = 0; i < HONE_COST_TERMS; i++)
        sum += m->weights[i] * terms[i];
    return sum;
}

double hone_cost_chance(const struct hone_cost_model *m, size_t strategy,
                        const double terms[HONE_COST_TERMS])
{
    return 0.5 * erfc(-hone_cost_predict(m, strategy, terms) / m->error / sqrt(2));
}

size_t hone_cost_drop(const struct hone_cost_model *m, double limit, const struct hone_node *node,
                      struct hone_action *actions, size_t n)
{
    size_t n_left = 0;
    for (int pass = 0; pass < 2 && n_left == 0; pass++)
        for (size_t i = 0; i < n; i++) {
            double terms[HONE_COST_TERMS];
            hone_cost_terms(&node->features, node->findings, node->n_findings, actions[i].strategy,
                            terms);
            size_t strategy = hone_strategy_index(actions[i].strategy);
            if (pass == 1 || hone_cost_chance(m, strategy, terms) >= limit)
                actions[n_left++] = actions[i];
        }
    return n_left;
}
