/* Greedy: the best version's action of highest prior; when it has none left, the next best version.
 */
#include "agents/policy.h"

static bool pick(struct hone_policy_ctx *ctx, struct hone_pick *ret)
{
    struct hone_tree *t = ctx->tree;
    int best = HONE_NO_NODE;
    size_t action = 0;
    for (int i = 0; i < t->n_nodes; i++) {
        struct hone_node *n = t->nodes[i];
        if (n->is_refuted || (best != HONE_NO_NODE && n->value <= t->nodes[best]->value))
            continue;
        size_t a = hone_policy_best_action(ctx, n);
        if (a < n->n_actions) {
            best = i;
            action = a;
        }
    }
    if (best == HONE_NO_NODE)
        return false;
    *ret = (struct hone_pick){best, action, 1, t->nodes[best]->value};
    return true;
}

const struct hone_policy hone_policy_greedy = {
    .name = "greedy", .words = "highest prior at the best version", .pick = pick};
