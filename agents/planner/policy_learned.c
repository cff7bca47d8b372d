/* SPDX-License-Identifier: Apache-2.0 */
/* The step of most use over all versions at once, with what other kernels taught of strategies.
 *
 * A step's score is what its version lacks to the best one, its expected use, and what it teaches: a
 * strategy that was never done in this search says most. There is no descent and no mean of a
 * subtree; the prior stands in the credit (prior.h, is_learned). docs/decisions/0075-learned-prior.md
 * has the figures that the weights were chosen by. */
#include "agents/planner/policy.h"

#include <math.h>

#define USE_SHARE 0.5 /* of the expected gain; less than one, for steps below the best are many */
#define NOVELTY   1.0 /* log2: of a strategy that was never done; less for each time it was */
#define LAG_SHARE 0.3 /* of what the version lacks to the best one */

static double score_of(const struct hone_policy_ctx *ctx, const struct hone_action *a, double lag)
{
    const struct hone_credit_row *row =
        ctx->credit ? &ctx->credit->rows[hone_strategy_index(a->strategy)] : NULL;
    double n_seen = row ? row->all.n + row->not_done : 0;
    return USE_SHARE * a->utility + NOVELTY * a->p_impl / (1 + n_seen) - LAG_SHARE * lag;
}

static bool pick(struct hone_policy_ctx *ctx, struct hone_pick *ret)
{
    struct hone_tree *t = ctx->tree;
    double best = t->best == HONE_NO_NODE ? 0 : hone_node_corrected_value(t, t->nodes[t->best]);
    *ret = (struct hone_pick){.node = HONE_NO_NODE, .propensity = 1, .score = -INFINITY};
    for (int i = 0; i < t->n_nodes; i++) {
        struct hone_node *n = t->nodes[i];
        if (n->is_refuted || hone_policy_best_action(ctx, n) >= n->n_actions)
            continue;
        for (size_t k = 0; k < n->n_actions; k++) {
            double score = score_of(ctx, &n->actions[k], best - hone_node_corrected_value(t, n));
            if (!hone_policy_may_take(ctx, &n->actions[k]) || score <= ret->score)
                continue;
            ret->node = i;
            ret->action = k;
            ret->score = score;
        }
    }
    return ret->node != HONE_NO_NODE;
}

const struct hone_policy hone_policy_learned = {
    .name = "learned",
    .words = "the step of most use anywhere, with a prior that other kernels taught",
    .pick = pick,
    .is_learned = true};
