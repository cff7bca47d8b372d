#include <string.h>

#include "agents/policy.h"
#include "workspace/base/rng.h"

extern const struct hone_policy hone_policy_chain, hone_policy_greedy, hone_policy_puct,
    hone_policy_random_walk, hone_policy_ucb;

const struct hone_policy *const hone_policies[] = {
    &hone_policy_chain,       &hone_policy_greedy, &hone_policy_puct,
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
    size_t i = 0;
    while (i < node->n_actions && node->actions[i].is_tried)
        i++;
    return i;
}
