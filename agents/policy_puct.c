/* PUCT over the version tree with the catalogue's priors.
 *
 * From the root down: at a node, its living children and its best untried action compete by
 *     Q + c * P * sqrt(1 + N) / (1 + n)
 * Q is in log2 units scaled by 1/2; a child's Q mixes mean and maximum of what lies beneath (only
 * the best kernel is shipped, the mean keeps noise in check); an untried action starts at its
 * node's own value, a little below, plus half of its expected gain. The number of children is
 * bounded by 2 sqrt(N); the root gets at most 40 % of the expansions after the first six. With
 * probability 0.1 the new action is drawn from P instead of taken as the best; the propensity says
 * so. Small budgets: c = 0.5 and no maximum in the mix below a node seen once. */
#include "agents/policy.h"

#include <math.h>

#define SCALE      0.5
#define FPU_OFFSET 0.1
#define EPSILON    0.1
#define ROOT_SHARE 0.4
#define ROOT_FREE  6

static double node_q(const struct hone_node *n)
{
    return SCALE * (0.5 * n->sum / n->n_visits + 0.5 * n->best);
}

static bool may_widen(const struct hone_policy_ctx *ctx, const struct hone_node *n, int n_children)
{
    const struct hone_tree *t = ctx->tree;
    int n_expansions = (int)t->n_edges, n_root = 0;
    if (n->index == 0 && n_expansions >= ROOT_FREE) {
        for (size_t i = 0; i < t->n_edges; i++)
            n_root += t->edges[i].parent == 0;
        if (n_root >= ROOT_SHARE * n_expansions)
            return false;
    }
    return n_children < 2 * sqrt(n->n_visits) + 1;
}

static size_t draw_action(struct hone_policy_ctx *ctx, const struct hone_node *n, size_t best,
                          double *ret_propensity)
{
    double total = 0;
    for (size_t i = 0; i < n->n_actions; i++)
        total += n->actions[i].is_tried ? 0 : n->actions[i].prior;
    size_t chosen = best;
    if (hone_policy_random(ctx) < EPSILON) {
        double at = hone_policy_random(ctx) * total;
        for (size_t i = 0; i < n->n_actions; i++) {
            if (n->actions[i].is_tried)
                continue;
            chosen = i;
            at -= n->actions[i].prior;
            if (at < 0)
                break;
        }
    }
    *ret_propensity =
        (1 - EPSILON) * (chosen == best) + EPSILON * n->actions[chosen].prior / fmax(total, 1e-9);
    return chosen;
}

struct choice {
    double score;
    int child; /* HONE_NO_NODE: a new action */
};

static double prior_of_child(const struct hone_node *parent, const struct hone_node *child)
{
    for (size_t i = 0; i < parent->n_actions; i++)
        if (parent->actions[i].is_tried && parent->actions[i].rewrite->name == child->rewrite)
            return parent->actions[i].prior;
    return 0.1;
}

/* Is anything left to try at the node or beneath it? */
static bool is_open(struct hone_policy_ctx *ctx, int index)
{
    struct hone_node *n = ctx->tree->nodes[index];
    if (n->is_dead || n->is_refuted)
        return false;
    if (hone_policy_best_action(ctx, n) < n->n_actions)
        return true;
    for (int i = index + 1; i < ctx->tree->n_nodes; i++)
        if (ctx->tree->nodes[i]->parent == index && is_open(ctx, i))
            return true;
    return false;
}

static struct choice choose(struct hone_policy_ctx *ctx, struct hone_node *n, bool is_throttled)
{
    double c = ctx->is_small ? 0.5 : 1.0, root = sqrt(1 + n->n_visits);
    struct choice out = {-INFINITY, HONE_NO_NODE};
    int n_children = 0;
    size_t action = hone_policy_best_action(ctx, n);
    for (int i = n->index + 1; i < ctx->tree->n_nodes; i++) {
        const struct hone_node *child = ctx->tree->nodes[i];
        if (child->parent != n->index)
            continue;
        n_children++;
        double score = node_q(child) + c * prior_of_child(n, child) * root / (1 + child->n_visits);
        if (score > out.score && is_open(ctx, i))
            out = (struct choice){score, i};
    }
    if (action < n->n_actions && (!is_throttled || may_widen(ctx, n, n_children))) {
        const struct hone_action *a = &n->actions[action];
        double score = SCALE * (n->value + 0.5 * a->utility) - FPU_OFFSET + c * a->prior * root;
        if (score > out.score)
            out = (struct choice){score, HONE_NO_NODE};
    }
    return out;
}

static bool descend(struct hone_policy_ctx *ctx, bool is_throttled, struct hone_pick *ret)
{
    struct hone_node *n = ctx->tree->nodes[0];
    for (;;) {
        struct choice c = choose(ctx, n, is_throttled);
        if (c.child != HONE_NO_NODE) {
            n = ctx->tree->nodes[c.child];
            continue;
        }
        size_t best = hone_policy_best_action(ctx, n);
        if (best >= n->n_actions || c.score == -INFINITY)
            return false;
        *ret = (struct hone_pick){.node = n->index, .score = c.score};
        ret->action = draw_action(ctx, n, best, &ret->propensity);
        return true;
    }
}

static bool pick(struct hone_policy_ctx *ctx, struct hone_pick *ret)
{
    if (ctx->tree->n_nodes == 0)
        return false;
    if (descend(ctx, true, ret) || descend(ctx, false, ret))
        return true;
    /* dead branches get another look before the search ends */
    bool any = false;
    for (int i = 0; i < ctx->tree->n_nodes; i++) {
        any = any || ctx->tree->nodes[i]->is_dead;
        ctx->tree->nodes[i]->is_dead = false;
    }
    return any && descend(ctx, false, ret);
}

const struct hone_policy hone_policy_puct = {
    .name = "puct", .words = "tree search with the catalogue's priors", .pick = pick};
