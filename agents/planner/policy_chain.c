/* SPDX-License-Identifier: Apache-2.0 */
/* Chain, after MTMC (arXiv 2511.20100): one of four families is drawn, then a strategy of it
 * without parameters, always at the version made last, never back. The baseline that tree search is
 * compared with. It never stops by itself: its published action set has no legal stop. */
#include "agents/planner/policy.h"

#include <stdio.h>
#include <string.h>

enum family { TILING, FUSION, PIPELINE, REORDERING, N_FAMILIES };

/* Catalogue ids of both targets; whatever is not named is a reordering of instructions. */
static const char *const members[N_FAMILIES] = {
    [TILING] = " C01 C07 C21 C23 G04 G05 G06 G11 G21 G31 G41 G43 ",
    [FUSION] = " C17 C19 C20 C22 G23 G24 G25 G26 G30 G38 G39 G45 G51 ",
    [PIPELINE] = " C03 C08 C09 C10 C11 C12 C24 G09 G10 G12 G13 G18 G19 G20 G37 G40 G42 G46 ",
    [REORDERING] = " ",
};

static enum family family_of(const struct hone_strategy *s)
{
    char id[8];
    snprintf(id, sizeof(id), " %s ", s->id);
    for (int f = 0; f < N_FAMILIES; f++)
        if (strstr(members[f], id))
            return (enum family)f;
    return REORDERING;
}

static bool pick(struct hone_policy_ctx *ctx, struct hone_pick *ret)
{
    struct hone_tree *t = ctx->tree;
    if (t->n_nodes == 0)
        return false;
    struct hone_node *n = t->nodes[t->n_nodes - 1];
    size_t in_family[N_FAMILIES] = {0}, n_families = 0;
    if (hone_policy_best_action(ctx, n) == n->n_actions)
        return false;
    for (size_t i = 0; i < n->n_actions; i++)
        in_family[family_of(n->actions[i].strategy)] += hone_policy_may_take(ctx, &n->actions[i]);
    for (int f = 0; f < N_FAMILIES; f++)
        n_families += in_family[f] > 0;
    size_t want = (size_t)(hone_policy_random(ctx) * (double)n_families);
    int family = 0;
    while (in_family[family] == 0 || want-- > 0)
        family++;
    size_t at = (size_t)(hone_policy_random(ctx) * (double)in_family[family]);
    for (size_t i = 0; i < n->n_actions; i++) {
        const struct hone_action *a = &n->actions[i];
        if (!hone_policy_may_take(ctx, a) || (int)family_of(a->strategy) != family || at-- > 0)
            continue;
        double chance = 1.0 / (double)(n_families * in_family[family]);
        *ret = (struct hone_pick){n->index, i, chance, chance};
        return true;
    }
    return false;
}

const struct hone_policy hone_policy_chain = {
    .name = "chain", .words = "one chain of steps from four families, never back", .pick = pick};
