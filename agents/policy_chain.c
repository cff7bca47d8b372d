/* Chain: always goes on from the version made last, drawn from the priors, never back: the baseline
 * that tree search is compared with. */
#include "agents/policy.h"

static bool pick(struct hone_policy_ctx *ctx, struct hone_pick *ret)
{
    struct hone_tree *t = ctx->tree;
    if (t->n_nodes == 0)
        return false;
    struct hone_node *n = t->nodes[t->n_nodes - 1];
    size_t first = hone_policy_best_action(ctx, n);
    double total = 0, at = hone_policy_random(ctx);
    for (size_t i = 0; i < n->n_actions; i++)
        total += n->actions[i].is_tried ? 0 : n->actions[i].prior;
    if (first >= n->n_actions)
        return false;
    *ret = (struct hone_pick){.node = n->index, .action = first};
    at *= total;
    for (size_t i = 0; i < n->n_actions; i++) {
        if (n->actions[i].is_tried)
            continue;
        ret->action = i;
        at -= n->actions[i].prior;
        if (at < 0)
            break;
    }
    ret->propensity = ret->score = n->actions[ret->action].prior / total;
    return true;
}

const struct hone_policy hone_policy_chain = {
    .name = "chain", .words = "one chain of sampled steps", .pick = pick};
