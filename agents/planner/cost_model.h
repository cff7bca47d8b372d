/* SPDX-License-Identifier: Apache-2.0 */
/* What a step will bring, said before it is evaluated: log2 of its version's speed over its
 * parent's, from the parent's features and the strategy. Fitted to recorded edges
 * (agents/offline/cost_fit.h) by ridge regression: a constant, a few terms that all strategies
 * share, and a deviation of each strategy that is held toward zero.
 *
 * With its error it says which steps need no evaluation: those whose chance of a gain is below a
 * limit, by a normal distribution. Any thread. docs/decisions/0095-learners.md, 0115-left-out.md */
#ifndef HONE_AGENTS_COST_MODEL_H
#define HONE_AGENTS_COST_MODEL_H

#include "agents/planner/tree.h"
#include "agents/planner/credit.h"
#include "workspace/base/fields.h"

enum { HONE_COST_TERMS = 6, HONE_COST_WEIGHTS = HONE_COST_TERMS + HONE_CREDIT_MAX };

struct hone_cost_edge {
    size_t kernel;                 /* number of the kernel that it was recorded on */
    size_t strategy;               /* index in the catalogue */
    double terms[HONE_COST_TERMS]; /* hone_cost_terms */
    double gain;                   /* log2 */
    double weight;                 /* more than 0 */
};

struct hone_cost_model {
    double weights[HONE_COST_WEIGHTS]; /* of the terms, then of the strategies */
    double error;                      /* root of the mean square, log2, on kernels left out */
    size_t n_edges;
};

/* Of a step of that strategy at a version. */
void hone_cost_terms(const struct hone_features *features, const struct hone_finding *findings,
                     size_t n_findings, const struct hone_strategy *strategy,
                     double ret[HONE_COST_TERMS]);
/* To all edges of which `uses` (by kernel, n_kernels of them) says so. Without edges: all zero, with
 * an endless error. error is not filled in. */
void hone_cost_fit(const struct hone_cost_edge *edges, size_t n, const bool *uses,
                   struct hone_cost_model *ret);
double hone_cost_predict(const struct hone_cost_model *model, size_t strategy,
                         const double terms[HONE_COST_TERMS]);
/* How likely the step gains at all. */
double hone_cost_chance(const struct hone_cost_model *model, size_t strategy,
                        const double terms[HONE_COST_TERMS]);
/* Marks those of the node's actions whose chance is below the limit as left out, and says at each
 * what was predicted. Returns how many are. A policy takes them when nothing else is left
 * (hone_policy_pick). */
size_t hone_cost_mark(const struct hone_cost_model *model, double limit, struct hone_node *node);
/* A model as a record holds it, with the names of the kernels that it is from: the same model comes
 * back. Owned. */
struct hone_json *hone_cost_json(const struct hone_cost_model *model, const struct hone_strs *from);
/* False: it is none. Weights of strategies that the target does not have are left out. */
bool hone_cost_read(const struct hone_json *json, const char *target, struct hone_cost_model *ret);
/* "left out by the cost model: predicted 1.02x, error 0.90 log2"; in the pool. */
const char *hone_cost_words(double predicted_log2, double error, struct hone_pool *pool);

#endif
