/* SPDX-License-Identifier: Apache-2.0 */
/* Bandits over strategies at the best version: they know no tree beyond it.
 *
 * ucb          the catalogue's guess plus a bound; what is legal here is masked by mechanism
 * masked-ucb   after KernelBand (arXiv 2511.18868): the mean reward of a strategy plus a bound, no
 *              prior, strategies never tried come first; the mask drops every strategy that touches
 *              a saturated resource, also those that would relieve it, as published. The clusters
 *              of its paper are one here: there is one kernel. */
#include "agents/planner/policy.h"

#include <math.h>
#include <string.h>

static double ucb(struct hone_policy_ctx *ctx, const struct hone_node *from,
                  const struct hone_action *a)
{
    const struct hone_tree *t = ctx->tree;
    double n = 0;
    (void)from;
    for (size_t i = 0; i < t->n_edges; i++)
        n += strcmp(t->edges[i].rewrite, a->rewrite->name) == 0;
    return a->p_impl * a->gain + sqrt(2 * log(1 + (double)t->n_edges) / (1 + n));
}

#define SM_FULL   80.0
#define DRAM_FULL 70.0
#define L2_FULL   75.0

static bool is_full(const struct hone_features *f, const struct hone_strategy *s)
{
    switch (s->resource) {
    case HONE_SM:
    case HONE_WORK:
        return hone_feature_or(f, HONE_F_ISSUE_ACTIVE, 0) > SM_FULL;
    case HONE_DRAM:
    case HONE_TRAFFIC:
        return hone_feature_or(f, HONE_F_DRAM_PCT, 0) > DRAM_FULL;
    case HONE_L2:
        return hone_feature_or(f, HONE_F_L2_PCT, 0) > L2_FULL;
    case HONE_ROOF:
        break;
    }
    return false;
}

/* Untried strategies come first, in an order that the seed gives. */
static double masked_ucb(struct hone_policy_ctx *ctx, const struct hone_node *from,
                         const struct hone_action *a)
{
    const struct hone_tree *t = ctx->tree;
    double n = 0, sum = 0;
    for (size_t i = 0; i < t->n_edges; i++) {
        const struct hone_edge_record *e = &t->edges[i];
        if (e->is_declined || strcmp(e->rewrite, a->rewrite->name) != 0)
            continue;
        n += 1;
        sum += fmax(0, e->gain);
    }
    if (n <= 0)
        return 1e6 + hone_policy_random(ctx);
    double score = sum / n + sqrt(2 * log(1 + (double)t->n_edges) / n);
    return is_full(&from->features, a->strategy) ? score - 1e3 : score; /* never an empty set */
}

static bool pick_by(struct hone_policy_ctx *ctx,
                    double (*bound)(struct hone_policy_ctx *ctx, const struct hone_node *from,
                                    const struct hone_action *a),
                    struct hone_pick *ret)
{
    int from;
    if (!hone_policy_best_node(ctx, &from))
        return false;
    struct hone_node *n = ctx->tree->nodes[from];
    hone_policy_best_action(ctx, n);
    *ret = (struct hone_pick){from, n->n_actions, 1, -INFINITY};
    for (size_t i = 0; i < n->n_actions; i++) {
        bool may = hone_policy_may_take(ctx, &n->actions[i]);
        double b = may ? bound(ctx, n, &n->actions[i]) : -INFINITY;
        if (b > ret->score) {
            ret->score = b;
            ret->action = i;
        }
    }
    return ret->action < n->n_actions;
}

static bool pick_ucb(struct hone_policy_ctx *ctx, struct hone_pick *ret)
{
    return pick_by(ctx, ucb, ret);
}

static bool pick_masked(struct hone_policy_ctx *ctx, struct hone_pick *ret)
{
    return pick_by(ctx, masked_ucb, ret);
}

const struct hone_policy hone_policy_ucb = {
    .name = "ucb",
    .words = "masked UCB over strategies at the best version, with the catalogue's guess",
    .pick = pick_ucb};
const struct hone_policy hone_policy_masked_ucb = {
    .name = "masked-ucb",
    .words = "the published bandit: masked UCB without a prior",
    .pick = pick_masked};
