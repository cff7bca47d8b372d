/* SPDX-License-Identifier: Apache-2.0 */
/* puct, with second starts: where several steps in a row brought no new best, every second step is
 * taken from a version of the archive, whose cell is drawn evenly among those that the best version
 * does not stand in. Its step is drawn by the priors, as its order says little where all that was
 * likely has been tried. docs/decisions/0094-archive.md has the figures. */
#include "agents/planner/archive.h"

#include <stdlib.h>

#include "workspace/base/text.h"

#define AFTER 6 /* steps without a new best */

static bool has_step(struct hone_policy_ctx *ctx, int node)
{
    struct hone_node *n = ctx->tree->nodes[node];
    return hone_policy_best_action(ctx, n) < n->n_actions;
}

/* Drops the cell of the best version and cells without a step. */
static size_t open_cells(struct hone_policy_ctx *ctx, struct hone_archive *a)
{
    size_t own = hone_archive_cell_of(a, ctx->tree->nodes[ctx->tree->best]), n = 0;
    for (size_t i = 0; i < a->n; i++)
        if (i != own && has_step(ctx, a->cells[i].node))
            a->cells[n++] = a->cells[i];
    return n;
}

static bool start_elsewhere(struct hone_policy_ctx *ctx, struct hone_pick *ret)
{
    HONE_AUTOFREE struct hone_archive *a = hone_calloc(1, sizeof(*a));
    double chance = 0;
    hone_archive_fill(ctx);
    hone_archive_of(ctx->tree, a);
    size_t n = open_cells(ctx, a);
    if (n == 0)
        return false;
    ret->node = a->cells[(size_t)(hone_policy_random(ctx) * (double)n)].node;
    ret->action = hone_policy_draw(ctx, ctx->tree->nodes[ret->node], NULL, &chance);
    ret->propensity = chance / (double)n;
    ret->score = 0;
    return ret->action < ctx->tree->nodes[ret->node]->n_actions;
}

static bool pick(struct hone_policy_ctx *ctx, struct hone_pick *ret)
{
    const struct hone_tree *t = ctx->tree;
    bool is_due = t->best != HONE_NO_NODE && t->n_since_best >= AFTER && t->n_since_best % 2 == 0;
    return (is_due && start_elsewhere(ctx, ret)) || hone_policy_puct.pick(ctx, ret);
}

const struct hone_policy hone_policy_archive = {
    .name = "archive",
    .words = "puct, and second starts from an archive of versions that differ",
    .pick = pick,
    .uses_archive = true};
