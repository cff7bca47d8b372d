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

size_t hone_cost_mark(const struct hone_cost_model *m, double limit, struct hone_node *node)
{
    size_t n_left_out = 0;
    for (size_t i = 0; i < node->n_actions; i++) {
        struct hone_action *a = &node->actions[i];
        size_t strategy = hone_strategy_index(a->strategy);
        double terms[HONE_COST_TERMS];
        hone_cost_terms(&node->features, node->findings, node->n_findings, a->strategy, terms);
        a->cost_log2 = hone_cost_predict(m, strategy, terms);
        a->cost_chance = hone_cost_chance(m, strategy, terms);
        a->is_left_out = a->cost_chance < limit;
        n_left_out += a->is_left_out;
    }
    return n_left_out;
}

/* ---- records ---- */

struct weight_row {
    const char *strategy;
    double weight;
};

struct record {
    double error;
    int64_t edges;
    struct hone_f64s terms;
    struct hone_array strategies; /* of struct weight_row */
    struct hone_strs from;
};

static const struct hone_field weight_fields[] = {
    HONE_FIELD(struct weight_row, strategy, .required = true, .max_len = 16),
    HONE_FIELD(struct weight_row, weight, .required = true),
};

static const struct hone_field record_fields[] = {
    HONE_FIELD(struct record, error, .required = true),
    HONE_FIELD(struct record, edges, .min = 0, .max = INT64_MAX),
    HONE_FIELD(struct record, terms, .required = true),
    HONE_FIELD(struct record, strategies, HONE_OF(struct weight_row, weight_fields)),
    HONE_FIELD(struct record, from),
};

struct hone_json *hone_cost_json(const struct hone_cost_model *m, const struct hone_strs *from)
{
    double terms[HONE_COST_TERMS];
    struct weight_row rows[HONE_CREDIT_MAX];
    struct record r = {.error = m->error,
                       .edges = (int64_t)m->n_edges,
                       .terms = {terms, HONE_COST_TERMS},
                       .strategies = {.v = rows},
                       .from = *from};
    memcpy(terms, m->weights, sizeof(terms));
    for (size_t i = 0; i < hone_n_strategies; i++) {
        double weight = m->weights[HONE_COST_TERMS + i];
        if (weight != 0)
            rows[r.strategies.n++] = (struct weight_row){hone_strategies[i].id, weight};
    }
    return hone_fields_encode(&r, record_fields, HONE_COUNTOF(record_fields));
}

bool hone_cost_read(const struct hone_json *json, const char *target, struct hone_cost_model *ret)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct record r;
    *ret = (struct hone_cost_model){.error = INFINITY};
    if (hone_fields_decode(json, record_fields, HONE_COUNTOF(record_fields), &r, sizeof(r), pool,
                           NULL) < 0 ||
        r.terms.n != HONE_COST_TERMS || !(r.error > 0))
        return false;
    ret->error = r.error;
    ret->n_edges = (size_t)r.edges;
    memcpy(ret->weights, r.terms.v, sizeof(*ret->weights) * HONE_COST_TERMS);
    const struct weight_row *rows = r.strategies.v;
    for (size_t i = 0; i < r.strategies.n; i++) {
        const struct hone_strategy *s = hone_strategy_find(target, rows[i].strategy);
        if (s)
            ret->weights[HONE_COST_TERMS + hone_strategy_index(s)] = rows[i].weight;
    }
    return true;
}

const char *hone_cost_words(double predicted_log2, double error, struct hone_pool *pool)
{
    return hone_pool_printf(pool, "left out by the cost model: predicted %.2fx, error %.2f log2",
                            exp2(predicted_log2), error);
}
