/* SPDX-License-Identifier: Apache-2.0 */
/* Greedy: the best version's action of highest prior; when it has none left, the
 * next best version. */
#include "agents/planner/policy.h"

static bool pick(struct hone_policy_ctx *ctx, struct hone_pick *ret)
{
    int from;
    if (!hone_policy_best_node(ctx, &from))
        return false;
    struct hone_node *n = ctx->tree->nodes[from];
    *ret = (struct hone_pick){from, hone_policy_best_action(ctx, n), 1,
                              hone_node_corrected_value(ctx->tree, n)};
    return true;
}

const struct hone_policy hone_policy_greedy = {
    .name = "greedy", .words = "highest prior at the best version", .pick = pick};
