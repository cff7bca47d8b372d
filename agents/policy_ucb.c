/* UCB over strategies, masked by legality: the strategy with the highest upper bound of its gain
 * among those legal at the best version.
 *
 * The bandit of KernelBand's kind: it knows no tree beyond "the best version", and no prior beyond
 * the catalogue's guess. */
#include "agents/policy.h"

#include <math.h>

static double bound(const struct hone_tree *t, const struct hone_action *a)
{
    double n = 0;
    for (size_t i = 0; i < t->n_edges; i++)
        n += t->edges[i].rewrite == a->rewrite->name;
    return a->p_impl * a->gain + sqrt(2 * log(1 + (double)t->n_edges) / (1 + n));
}

static bool pick(struct hone_policy_ctx *ctx, struct hone_pick *ret)
{
    struct hone_tree *t = ctx->tree;
    int from = HONE_NO_NODE;
    for (int i = 0; i < t->n_nodes; i++) {
        struct hone_node *n = t->nodes[i];
        if (!n->is_refuted && (from == HONE_NO_NODE || n->value > t->nodes[from]->value) &&
            hone_policy_best_action(ctx, n) < n->n_actions)
            from = i;
    }
    if (from == HONE_NO_NODE)
        return false;
    struct hone_node *n = t->nodes[from];
    *ret = (struct hone_pick){from, n->n_actions, 1, -INFINITY};
    for (size_t i = 0; i < n->n_actions; i++) {
        double b = n->actions[i].is_tried ? -INFINITY : bound(t, &n->actions[i]);
        if (b > ret->score) {
            ret->score = b;
            ret->action = i;
        }
    }
    return ret->action < n->n_actions;
}

const struct hone_policy hone_policy_ucb = {
    .name = "ucb", .words = "masked UCB over strategies at the best version", .pick = pick};
