/* SPDX-License-Identifier: Apache-2.0 */
/* What a step will bring, said before it is evaluated: log2 of its version's speed over its
 * parent's, from the parent's features and the strategy. Fitted to recorded edges
 * (agents/offline/cost_fit.h) by ridge regression: a constant, a few terms that all strategies
 * share, and a deviation of each strategy that is held toward zero.
 *
 * With its error it says which steps need no evaluation: those whose chance of a gain is below a
 * limit, by a normal distribution. Any thread; nothing is owned. docs/decisions/0095-learners.md */
#ifndef HONE_AGENTS_COST_MODEL_H
#define HONE_AGENTS_COST_MODEL_H

#include "agents/planner/tree.h"
#include "agents/planner/credit.h"

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
/* Drops the actions of a node whose chance is below the limit, unless that were all. Returns how
 * many are left; the order stays. */
size_t hone_cost_drop(const struct hone_cost_model *model, double limit,
                      const struct hone_node *node, struct hone_action *actions, size_t n);

#endif
