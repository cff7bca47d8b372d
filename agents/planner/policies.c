/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "agents/planner/policy.h"
#include "workspace/base/rng.h"

extern const struct hone_policy hone_policy_archive, hone_policy_chain, hone_policy_greedy,
    hone_policy_learned, hone_policy_masked_ucb, hone_policy_puct_flat, hone_policy_puct_mean,
    hone_policy_random_walk, hone_policy_ucb;

const struct hone_policy *const hone_policies[] = {
    &hone_policy_archive,     &hone_policy_chain, &hone_policy_greedy,    &hone_policy_learned,
    &hone_policy_masked_ucb,  &hone_policy_puct,  &hone_policy_puct_flat, &hone_policy_puct_mean,
    &hone_policy_random_walk, &hone_policy_ucb,
};
const size_t hone_n_policies = HONE_COUNTOF(hone_policies);

const struct hone_policy *hone_policy_find(const char *name)
{
    for (size_t i = 0; i < hone_n_policies; i++)
        if (strcmp(hone_policies[i]->name, name) == 0)
            return hone_policies[i];
    return NULL;
}

const char *hone_policy_names(struct hone_pool *pool)
{
    const char *out = hone_policies[0]->name;
    for (size_t i = 1; i < hone_n_policies; i++)
        out = hone_pool_printf(pool, "%s, %s", out, hone_policies[i]->name);
    return out;
}

bool hone_policy_pick(const struct hone_policy *policy, struct hone_policy_ctx *ctx,
                      struct hone_pick *ret)
{
    ctx->takes_left_out = false;
    if (policy->pick(ctx, ret))
        return true;
    ctx->takes_left_out = true;
    return policy->pick(ctx, ret);
}

bool hone_policy_may_take(const struct hone_policy_ctx *ctx, const struct hone_action *a)
{
    bool is_favoured =
        ctx->credit && ctx->credit->rows[hone_strategy_index(a->strategy)].favour > 1;
    return !a->is_tried && (!a->is_left_out || ctx->takes_left_out || is_favoured);
}

double hone_policy_random(struct hone_policy_ctx *ctx)
{
    uint8_t key[16] = {0};
    memcpy(key, &ctx->seed, sizeof(ctx->seed));
    return hone_rng_unit(hone_rng_u64(key, 7, ctx->counter++));
}

size_t hone_policy_best_action(struct hone_policy_ctx *ctx, struct hone_node *node)
{
    if (!node->is_expanded)
        ctx->expand(ctx->expand_arg, node);
    if (ctx->credit)
        hone_score_actions(ctx->credit,
                           node->n_findings ? node->findings[0].class_id : HONE_N_CLASSES,
                           node->actions, node->n_actions);
    size_t i = 0;
    while (i < node->n_actions && !hone_policy_may_take(ctx, &node->actions[i]))
        i++;
    return i;
}

bool hone_policy_best_node(struct hone_policy_ctx *ctx, int *ret_node)
{
    struct hone_tree *t = ctx->tree;
    int best = HONE_NO_NODE;
    for (int i = 0; i < t->n_nodes; i++) {
        struct hone_node *n = t->nodes[i];
        if (!n->is_refuted &&
            (best == HONE_NO_NODE ||
             hone_node_corrected_value(t, n) > hone_node_corrected_value(t, t->nodes[best])) &&
            hone_policy_best_action(ctx, n) < n->n_actions)
            best = i;
    }
    *ret_node = best;
    return best != HONE_NO_NODE;
}

static double weight_of(const struct hone_policy_ctx *ctx, const struct hone_action *a,
                        double (*weight)(const struct hone_action *))
{
    if (!hone_policy_may_take(ctx, a))
        return 0;
    return weight ? weight(a) : a->prior;
}

size_t hone_policy_draw(struct hone_policy_ctx *ctx, const struct hone_node *n,
                        double (*weight)(const struct hone_action *), double *ret_chance)
{
    size_t chosen = n->n_actions;
    double total = 0, at = hone_policy_random(ctx);
    for (size_t i = 0; i < n->n_actions; i++)
        total += weight_of(ctx, &n->actions[i], weight);
    at *= total;
    for (size_t i = 0; i < n->n_actions; i++) {
        double w = weight_of(ctx, &n->actions[i], weight);
        if (w <= 0)
            continue;
        chosen = i;
        *ret_chance = w / total;
        at -= w;
        if (at < 0)
            break;
    }
    return chosen;
}
