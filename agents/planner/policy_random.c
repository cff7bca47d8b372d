/* SPDX-License-Identifier: Apache-2.0 */
/* Random: a uniform version with actions left, a uniform action. The yardstick for all others.
 *
 * Priors play no part in the choice, so that only the chosen version's are made anew, for its
 * record: with thousands of versions the others' would take longer than an evaluation. */
#include "agents/planner/policy.h"

static size_t count_left(struct hone_policy_ctx *ctx, struct hone_node *n)
{
    size_t left = 0;
    if (!n->is_expanded)
        ctx->expand(ctx->expand_arg, n);
    for (size_t i = 0; i < n->n_actions; i++)
        left += hone_policy_may_take(ctx, &n->actions[i]);
    return left;
}

static bool pick(struct hone_policy_ctx *ctx, struct hone_pick *ret)
{
    struct hone_tree *t = ctx->tree;
    size_t total = 0;
    for (int i = 0; i < t->n_nodes; i++)
        total += count_left(ctx, t->nodes[i]);
    if (total == 0)
        return false;
    size_t want = (size_t)(hone_policy_random(ctx) * (double)total), left = 0;
    int i = 0;
    while (want >= (left = count_left(ctx, t->nodes[i]))) {
        want -= left;
        i++;
    }
    struct hone_node *n = t->nodes[i];
    hone_policy_best_action(ctx, n);
    for (size_t a = 0; a < n->n_actions; a++) {
        if (!hone_policy_may_take(ctx, &n->actions[a]) || want-- > 0)
            continue;
        *ret = (struct hone_pick){i, a, 1.0 / (double)total, 0};
        return true;
    }
    return false;
}

const struct hone_policy hone_policy_random_walk = {
    .name = "random", .words = "uniform over legal steps", .pick = pick};
