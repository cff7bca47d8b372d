/* SPDX-License-Identifier: Apache-2.0 */
/* Steps that take over what won on a sibling, in the search: at each version as many as merge.h
 * allows, kept up to date before each choice, so that they follow from the tree as it is. */
#include <string.h>

#include "agents/planner/merge.h"
#include "agents/planner/mix.h"
#include "agents/search/search_internal.h"
#include "agents/coder/history_context.h"
#include "workspace/base/text.h"
#include "workspace/base/limits.h"
#include "workspace/history.h"

static bool has_sibling(const struct hone_merge *m, size_t n, int sibling)
{
    for (size_t i = 0; i < n; i++)
        if (m[i].sibling == sibling)
            return true;
    return false;
}

static bool is_listed(const struct hone_node *node, int sibling)
{
    for (size_t i = 0; i < node->n_actions; i++)
        if (node->actions[i].sibling == sibling)
            return true;
    return false;
}

/* Those that hold no more: refuted meanwhile, or the pair was tried from the other side. */
static void drop_stale(struct hone_node *node, const struct hone_merge *m, size_t n)
{
    size_t n_left = 0;
    for (size_t i = 0; i < node->n_actions; i++) {
        const struct hone_action *a = &node->actions[i];
        if (a->sibling == 0 || a->is_tried || has_sibling(m, n, a->sibling))
            node->actions[n_left++] = node->actions[i];
    }
    node->n_actions = n_left;
}

static void add(struct hone_search *s, struct hone_node *node, const struct hone_rewrite *rewrite,
                const struct hone_merge *m)
{
    const struct hone_tree *t = &s->state.tree;
    const struct hone_strategy *theirs = m->edge->strategy;
    const struct hone_node *sibling = t->nodes[m->sibling];
    size_t n = node->n_actions;
    struct hone_action *all = hone_pool_alloc(s->pool, (n + 1) * sizeof(*all));
    if (n > 0)
        memcpy(all, node->actions, n * sizeof(*all));
    struct hone_action *a = &all[n];
    *a = (struct hone_action){.rewrite = rewrite,
                              .strategy = hone_strategy_of(rewrite),
                              .rule = m->edge->parent ==
                                              t->nodes[hone_merge_base(t, node->index)]->parent
                                          ? "two versions of one parent gained by different steps"
                                          : "a version of another cell of the archive gained by a "
                                            "step that is not on this one's way",
                              .values = "",
                              .boost = 1,
                              .discount = 1,
                              .sibling = m->sibling,
                              .sibling_gain = m->gain,
                              .site.variant = sibling->number};
    a->site.words = hone_pool_printf(s->pool, "%s of version %d", theirs->id, sibling->number);
    a->site.evidence = hone_pool_printf(
        s->pool, "%s %s: %s the version before it%s", theirs->id,
        m->edge->plan ? hone_plain_line(s->pool, m->edge->plan, HONE_LIMIT_TRIED_BYTES)
                      : theirs->words,
        hone_step_text(t->nodes[sibling->parent], sibling, s->pool),
        hone_step_basis_text(t->nodes[sibling->parent], sibling, s->pool));
    hone_site_whole(&a->site, node->source, node->hash);
    hone_step_order_extend(all, n + 1);
    node->actions = all;
    node->n_actions = n + 1;
    hone_score_actions(&s->state.credit,
                       node->n_findings ? node->findings[0].class_id : HONE_N_CLASSES, all, n + 1);
}

/* archive: NULL: siblings alone. */
static void list_merges(struct hone_search *s, struct hone_node *node,
                        const struct hone_archive *archive)
{
    const struct hone_rewrite *rewrite = hone_coder_merging(s->coder);
    struct hone_merge m[HONE_MERGES];
    size_t n = 0;
    if (rewrite && !hone_credit_is_banned(&s->state.credit, hone_strategy_of(rewrite))) {
        n = hone_merges_of(&s->state.tree, node->index, m);
        n = archive ? hone_merges_across(&s->state.tree, archive, node->index, m, n) : n;
    }
    drop_stale(node, m, n);
    for (size_t i = 0; i < n && node->n_actions < HONE_TREE_MAX_ACTIONS; i++)
        if (!is_listed(node, m[i].sibling))
            add(s, node, rewrite, &m[i]);
}

void hone_search_list_merges(struct hone_search *s, struct hone_node *node)
{
    if (!s->policy->uses_archive) /* else before the next choice, with the archive as it is then */
        list_merges(s, node, NULL);
}

static bool lists_any(const struct hone_node *node)
{
    for (size_t i = 0; i < node->n_actions; i++)
        if (node->actions[i].sibling > 0)
            return true;
    return false;
}

/* Before every choice: what cannot have any is passed over. */
void hone_search_list_all_merges(struct hone_search *s)
{
    const struct hone_tree *t = &s->state.tree;
    if (!hone_coder_asks_model(hone_coder_name(s->coder)) || t->n_nodes == 0)
        return;
    HONE_AUTOFREE struct hone_archive *archive = NULL;
    if (s->policy->uses_archive) {
        archive = hone_calloc(1, sizeof(*archive));
        hone_archive_fill(&s->policy_ctx);
        hone_archive_of(t, archive);
    }
    HONE_AUTOFREE int *n_won = hone_calloc((size_t)t->n_nodes, sizeof(*n_won)); /* children */
    for (size_t i = 0; i < t->n_edges; i++)
        n_won[t->edges[i].parent] += hone_merge_has_won(t, &t->edges[i]);
    for (int i = 0; i < t->n_nodes; i++) {
        int parent = t->nodes[hone_merge_base(t, i)]->parent;
        bool may = parent != HONE_NO_NODE && (archive || n_won[parent] > 1);
        if (t->nodes[i]->is_expanded && (may || lists_any(t->nodes[i])))
            list_merges(s, t->nodes[i], archive);
    }
}

const char *hone_search_sibling(struct hone_search *s, const struct hone_action *a,
                                struct hone_pool *pool)
{
    if (a->sibling == 0)
        return NULL;
    const struct hone_node *sibling = s->state.tree.nodes[a->sibling];
    const struct hone_node *parent = s->state.tree.nodes[sibling->parent];
    struct hone_history *history = hone_workspace_history(s->ctx->app->ws);
    HONE_AUTOFREE char *patch = NULL;
    /* the whole text says it too, where a commit cannot be read */
    if (!parent->commit || !sibling->commit ||
        hone_history_diff(history, parent->commit, sibling->commit, &patch, NULL) < 0)
        return sibling->source;
    return hone_pool_strdup(pool, patch);
}
