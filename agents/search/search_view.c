/* SPDX-License-Identifier: Apache-2.0 */
/* A search as an outside planner sees it, and its archive (view.h): the search is opened from its
 * records, asked what it would take next, and closed. What is returned is copied out of it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agents/search/search_internal.h"
#include "agents/planner/archive.h"
#include "agents/search/view.h"

static void close_view(struct hone_search **s)
{
    hone_search_view_close(*s);
}

static const char *keep(struct hone_pool *pool, const char *text)
{
    return hone_pool_strdup(pool, text ? text : "");
}

static int by_value(const void *a, const void *b)
{
    const struct hone_view_version *x = a, *y = b;
    return x->speedup != y->speedup ? (x->speedup > y->speedup ? -1 : 1)
                                    : (x->node > y->node) - (x->node < y->node);
}

static void list_versions(const struct hone_search *s, int next, struct hone_pool *pool,
                          struct hone_view *ret)
{
    const struct hone_tree *t = &s->state.tree;
    struct hone_view_version *all = hone_pool_alloc(pool, ((size_t)t->n_nodes + 1) * sizeof(*all));
    for (int i = 0; i < t->n_nodes; i++) {
        const struct hone_node *n = t->nodes[i];
        all[i] = (struct hone_view_version){
            .node = n->number,
            .parent = n->parent == HONE_NO_NODE ? HONE_NO_NODE : t->nodes[n->parent]->number,
            .commit = keep(pool, n->commit),
            .words = n->index == 0 ? "the baseline" : keep(pool, n->words),
            .speedup = exp2(n->value),
            .is_best = i == t->best,
            .is_next = i == next};
        for (size_t k = 0; k < t->n_edges; k++)
            all[i].tries += t->edges[k].parent == i;
    }
    qsort(all, (size_t)t->n_nodes, sizeof(*all), by_value);
    ret->versions = all;
    ret->n_versions = (size_t)hone_min_i64(t->n_nodes, HONE_VIEW_VERSIONS);
    for (size_t i = ret->n_versions; i < (size_t)t->n_nodes; i++) /* that one is always shown */
        if (all[i].is_next)
            all[ret->n_versions - 1] = all[i];
}

static void count_tries(const struct hone_search *s, struct hone_pool *pool, struct hone_view *ret)
{
    ret->tries = hone_pool_alloc(pool, hone_n_strategies * sizeof(*ret->tries));
    for (size_t i = 0; i < s->state.tree.n_edges; i++) {
        const struct hone_rewrite *rewrite =
            hone_coder_rewrite(s->coder, s->state.tree.edges[i].rewrite);
        const struct hone_strategy *strategy = rewrite ? hone_strategy_of(rewrite) : NULL;
        if (!strategy)
            continue;
        struct hone_view_tries *t = &ret->tries[hone_strategy_index(strategy)];
        t->tries++;
        t->gains += s->state.tree.edges[i].is_gain;
    }
}

/* Rewrites of a model are the coder's own and go with it. */
static void copy_actions(const struct hone_node *n, bool is_left_out, struct hone_pool *pool,
                         struct hone_view *ret)
{
    for (size_t i = 0; i < n->n_actions; i++) {
        if (n->actions[i].is_tried || n->actions[i].is_left_out != is_left_out)
            continue;
        struct hone_action *a = &ret->actions[ret->n_actions++];
        struct hone_rewrite *rewrite = hone_pool_alloc(pool, sizeof(*rewrite));
        *a = n->actions[i];
        *rewrite = *a->rewrite;
        rewrite->name = keep(pool, rewrite->name);
        a->rewrite = rewrite;
        a->site.node = NULL;
        a->site.words = keep(pool, a->site.words);
        a->site.evidence = keep(pool, a->site.evidence);
        a->rule = keep(pool, a->rule);
        a->values = keep(pool, a->values);
    }
}

/* Whole strategies, ranked as steps are. */
static void rank_by_hand(const struct hone_search *s, const struct hone_node *n,
                         struct hone_pool *pool, struct hone_view *ret)
{
    const struct hone_scene scene = {.features = &n->features,
                                     .findings = ret->findings,
                                     .n_findings = ret->n_findings,
                                     .credit = &s->state.credit,
                                     .tree = &s->state.tree,
                                     .node = n->index,
                                     .pool = pool};
    ret->by_hand = hone_pool_alloc(pool, hone_n_strategies * sizeof(*ret->by_hand));
    for (size_t i = 0; i < hone_n_strategies; i++) {
        const struct hone_strategy *strategy = &hone_strategies[i];
        const struct hone_rewrite *rewrite = hone_coder_outside(s->coder, strategy->id);
        if (!rewrite || hone_strategy_of(rewrite) != strategy || s->state.credit.rows[i].is_banned)
            continue;
        ret->by_hand[ret->n_by_hand++] =
            (struct hone_action){.rewrite = rewrite, .strategy = strategy, .site.words = ""};
    }
    size_t n_ranked = hone_rank_actions(&scene, ret->by_hand, ret->n_by_hand);
    ret->n_by_hand = 0;
    for (size_t i = 0; i < n_ranked; i++) {
        if (ret->by_hand[i].is_tried)
            continue;
        struct hone_action *a = &ret->by_hand[ret->n_by_hand++];
        *a = ret->by_hand[i];
        a->rewrite = NULL; /* the search's own */
    }
}

static void copy_findings(const struct hone_node *n, struct hone_pool *pool, struct hone_view *ret)
{
    ret->n_findings = n->n_findings;
    for (size_t i = 0; i < n->n_findings; i++) {
        ret->findings[i] = n->findings[i];
        ret->findings[i].rule = keep(pool, n->findings[i].rule);
        ret->findings[i].values = keep(pool, n->findings[i].values);
    }
}

static struct hone_node *find_version(struct hone_search *s, const char *commit, int next)
{
    if (!commit)
        return s->state.tree.nodes[next != HONE_NO_NODE ? next : s->state.tree.best];
    for (int i = 0; i < s->state.tree.n_nodes; i++)
        if (s->state.tree.nodes[i]->commit && strcmp(s->state.tree.nodes[i]->commit, commit) == 0)
            return s->state.tree.nodes[i];
    return NULL;
}

int hone_view_read(struct hone_tool_ctx *ctx, const struct hone_steer_search *search,
                   const char *commit, struct hone_view *ret, struct hone_err *err)
{
    HONE_CLEANUP(close_view) struct hone_search *s = NULL;
    struct hone_pool *pool = ctx->pool;
    struct hone_pick pick;
    *ret = (struct hone_view){.commit = NULL};
    int r = hone_search_view_open(ctx, search, &s, err);
    if (r < 0)
        return r;
    ret->would_stop = !hone_search_pick(s, &pick);
    int next = ret->would_stop ? HONE_NO_NODE : pick.node;
    struct hone_node *n = find_version(s, commit, next);
    if (!n)
        return hone_fail_at(err, HONE_E_ARG, "commit", "is no version of search '%.64s'",
                            search->name);
    hone_policy_best_action(&s->policy_ctx, n); /* expands, scores */
    ret->commit = keep(pool, n->commit);
    ret->speedup = exp2(n->value);
    ret->features = n->features;
    ret->is_by_hand = strcmp(hone_coder_name(s->coder), "external") == 0;
    copy_findings(n, pool, ret);
    ret->actions = hone_pool_alloc(pool, (n->n_actions + 1) * sizeof(*ret->actions));
    copy_actions(n, false, pool, ret);
    copy_actions(n, true, pool, ret);
    ret->cost_error = s->state.cost ? s->state.cost->error : 0;
    rank_by_hand(s, n, pool, ret);
    count_tries(s, pool, ret);
    list_versions(s, next, pool, ret);
    ret->steering = hone_pool_alloc(pool, sizeof(*ret->steering));
    hone_steering_init(ret->steering, search->id, search->target, pool);
    return hone_steering_read(ret->steering, hone_workspace_ledger(ctx->app->ws), err);
}

static struct hone_json *cell_json(const struct hone_search *s, const struct hone_archive *a,
                                   const struct hone_archive_cell *c)
{
    const struct hone_node *n = s->state.tree.nodes[c->node];
    struct hone_json *out = hone_json_new_object();
    hone_json_set_str(out, "cell", hone_archive_words(a, c, s->pool));
    hone_json_set_i64(out, "node", n->number);
    hone_json_set_str(out, "commit", n->commit);
    hone_json_set_str(out, "words", n->index == 0 ? "the baseline" : n->words);
    hone_json_set_f64(out, "speedup", exp2(n->value));
    hone_json_set_str(out, "look", n->basis.look);
    hone_json_set_bool(out, "is_best", c->node == s->state.tree.best);
    hone_json_set_i64(out, "versions", c->n_versions);
    return out;
}

int hone_view_archive(struct hone_tool_ctx *ctx, const struct hone_steer_search *search,
                      struct hone_json **ret, struct hone_err *err)
{
    HONE_CLEANUP(close_view) struct hone_search *s = NULL;
    HONE_AUTOFREE struct hone_archive *a = hone_calloc(1, sizeof(*a));
    int r = hone_search_view_open(ctx, search, &s, err);
    if (r < 0)
        return r;
    hone_archive_fill(&s->policy_ctx);
    hone_archive_of(&s->state.tree, a);
    struct hone_json *axes = hone_json_new_array(), *cells = hone_json_new_array();
    for (size_t i = 0; i < HONE_ARCHIVE_AXES; i++)
        hone_json_push(axes, hone_json_new_str(a->axes[i].name));
    for (size_t i = 0; i < a->n; i++)
        hone_json_push(cells, cell_json(s, a, &a->cells[i]));
    *ret = hone_json_new_object();
    hone_json_set(*ret, "axes", axes);
    hone_json_set(*ret, "cells", cells);
    return 0;
}
