/* SPDX-License-Identifier: Apache-2.0 */
/* Texts for prompts about one version (history_context.h).
 *
 * Parts, in the order of the file: a ratio with its interval; what a figure rests on (tier,
 * sizes); times by size beside the baseline's; what a sweep measured; steps that were tried
 * from a version; the steps that led to it. All of it is pure: reports and tree in, text in
 * the pool out. */
#include "agents/coder/history_context.h"

#include <math.h>
#include <string.h>

#include "tools/evaluate_text.h"
#include "workspace/base/text.h"
#include "workspace/base/limits.h"

#define TOO_WIDE 2.0 /* high over low of an interval that no version can be ranked by */

/* low 0: the ratio alone. */
static const char *interval_text(double ratio, double low, double high, struct hone_pool *pool)
{
    if (!(low > 0) || !(high >= low))
        return hone_pool_printf(pool, "%.3gx", ratio);
    return hone_pool_printf(pool, "%.3gx (%.3g to %.3g%s)", ratio, low, high,
                            high >= TOO_WIDE * low ? ": too wide to tell" : "");
}

/* The longer look of one of them does not count beside the other. */
static bool is_mixed(const struct hone_node *from, const struct hone_node *to)
{
    return from->parent != HONE_NO_NODE && (hone_node_value_paired(from, to) != from->value ||
                                            hone_node_value_paired(to, from) != to->value);
}

const char *hone_step_text(const struct hone_node *from, const struct hone_node *to,
                           struct hone_pool *pool)
{
    bool is_root = from->parent == HONE_NO_NODE;
    double gain = is_root ? to->value : hone_node_gain(from, to), down = 0, up = 0;
    if (is_mixed(from, to) || !(to->low > 0) || (!is_root && !(from->low > 0)))
        return interval_text(exp2(gain), 0, 0, pool);
    if (!is_root) {
        down = log2(from->high) - from->value;
        up = from->value - log2(from->low);
    }
    return interval_text(exp2(gain), exp2(gain - hypot(to->value - log2(to->low), down)),
                         exp2(gain + hypot(log2(to->high) - to->value, up)), pool);
}

static const struct hone_workload_report *find_size(const struct hone_report *report,
                                                    const char *id)
{
    const struct hone_workload_report *w = report->workloads.v;
    for (size_t i = 0; i < report->workloads.n; i++)
        if (!w[i].is_hidden && strcmp(w[i].id, id) == 0 &&
            hone_workload_time_ns(&w[i], "candidate") > 0)
            return &w[i];
    return NULL;
}

struct hone_basis hone_basis_of(const struct hone_report *report, const struct hone_task *task,
                                const char *tier)
{
    static const struct {
        const char *tier, *look;
    } looks[] = {{"screen", "screened"}, {"decide", "decided"}, {"confirm", "confirmed"}};
    struct hone_basis ret = {.n_sizes = (int)task->n_workloads};
    for (size_t i = 0; i < HONE_COUNTOF(looks); i++)
        if (tier && strcmp(tier, looks[i].tier) == 0)
            ret.look = looks[i].look;
    for (size_t i = 0; i < task->n_workloads; i++)
        ret.n_timed += find_size(report, task->workloads[i].id) != NULL;
    return ret;
}

const char *hone_basis_text(const struct hone_basis *b, struct hone_pool *pool)
{
    if (!b->look || b->n_timed == 0)
        return b->look;
    if (b->n_timed == b->n_sizes)
        return hone_pool_printf(pool, "%s on all timed sizes", b->look);
    return hone_pool_printf(pool, "%s on %d of %d timed sizes", b->look, b->n_timed, b->n_sizes);
}

const char *hone_version_text(const struct hone_node *node, struct hone_pool *pool)
{
    const char *basis = hone_basis_text(&node->basis, pool);
    bool is_longer = node->is_screened && node->screened != node->value;
    return hone_pool_printf(
        pool, "%s the baseline%s%s%s",
        interval_text(exp2(node->value), node->low, node->high, pool), basis ? ", " : "",
        basis ? basis : "",
        is_longer ? hone_pool_printf(pool, " (%.3gx as screened before)", exp2(node->screened))
                  : "");
}

const char *hone_step_basis_text(const struct hone_node *from, const struct hone_node *to,
                                 struct hone_pool *pool)
{
    const char *own = hone_basis_text(&to->basis, pool),
               *theirs = from->parent == HONE_NO_NODE ? NULL : hone_basis_text(&from->basis, pool);
    if (!own)
        return "";
    if (is_mixed(from, to))
        return hone_pool_printf(
            pool, "; beside each other both as screened on %d of %d timed sizes",
            from->basis.n_timed < to->basis.n_timed ? from->basis.n_timed : to->basis.n_timed,
            to->basis.n_sizes);
    if (!theirs || from->basis.n_timed == to->basis.n_timed)
        return hone_pool_printf(pool, "; %s", own);
    return hone_pool_printf(pool, "; %s, the one before it %s: not the same sizes", own, theirs);
}

static void add_ratio(struct hone_buf *out, const struct hone_tree *tree,
                      const struct hone_edge_record *e, struct hone_pool *pool)
{
    const struct hone_node *from = tree->nodes[e->parent], *to = tree->nodes[e->child];
    if (e->child == e->parent) {
        hone_buf_str(out, "right, but the same machine code as before");
        return;
    }
    hone_buf_printf(out, "right, %s this version", hone_step_text(from, to, pool));
    if (from->parent != HONE_NO_NODE)
        hone_buf_printf(out, ", %s the baseline",
                        interval_text(exp2(to->value), to->low, to->high, pool));
    hone_buf_str(out, hone_step_basis_text(from, to, pool));
    if (to->parent != e->parent)
        hone_buf_str(out, ", the same machine code as a version that was known");
    if (to->is_refuted)
        hone_buf_printf(out, "; a longer look then refused it: %s",
                        to->refuted_by ? to->refuted_by : "not borne out");
}

/* Lines of hone_times_text, set in. */
static void add_times(struct hone_buf *out, const char *times)
{
    while (times && *times) {
        size_t len = strcspn(times, "\n");
        hone_buf_printf(out, "  %.*s\n", (int)len, times);
        times += len + (times[len] != 0);
    }
}

static void add_edge(struct hone_buf *out, const struct hone_tree *tree,
                     const struct hone_edge_record *e, struct hone_pool *pool)
{
    const struct hone_strategy *s = e->strategy;
    hone_buf_printf(out, "- %s %s", s ? s->id : "?",
                    e->plan ? hone_plain_line(pool, e->plan, HONE_LIMIT_TRIED_BYTES)
                    : s     ? s->words
                            : e->rewrite);
    hone_buf_str(out, ": ");
    if (e->child != HONE_NO_NODE) {
        add_ratio(out, tree, e, pool);
    } else {
        hone_buf_str(out, e->verdict       ? e->verdict
                          : e->is_declined ? "" /* the note says so */
                                           : "not carried out");
        if (e->note && *e->note)
            hone_buf_printf(out, "%s%s", e->is_declined && !e->verdict ? "" : ": ",
                            hone_plain_line(pool, e->note, HONE_LIMIT_TRIED_BYTES));
    }
    hone_buf_str(out, "\n");
    if (e->child != HONE_NO_NODE && e->child != e->parent)
        add_times(out, tree->nodes[e->child]->times);
}

static const char *done(struct hone_buf *out, struct hone_pool *pool)
{
    const char *text = out->data ? hone_pool_strdup(pool, out->data) : NULL;
    hone_buf_done(out);
    return text;
}

static void add_size(struct hone_buf *out, const struct hone_workload_report *w,
                     struct hone_pool *pool)
{
    double own = hone_workload_time_ns(w, "candidate"),
           theirs = hone_workload_time_ns(w, "baseline");
    const struct hone_ratio *ratio = hone_ratio_find(&w->ratios, "baseline");
    hone_buf_str(out, hone_plain_ns(pool, own));
    if (theirs > 0)
        hone_buf_printf(out, " (baseline %s)", hone_plain_ns(pool, theirs));
    if (ratio && ratio->ratio > 0)
        hone_buf_printf(out, ", %s", interval_text(ratio->ratio, ratio->low, ratio->high, pool));
    if (w->bound_ns > 0)
        hone_buf_printf(out, ", %.3g %% of what the machine allows",
                        fmin(100, 100 * w->bound_ns / own));
    if (w->bound_ns > 0 && w->bound_by && *w->bound_by)
        hone_buf_printf(out, " (by %s)",
                        hone_plain_line(pool, w->bound_by, HONE_LIMIT_TRIED_BYTES));
}

const char *hone_times_text(const struct hone_report *report, const struct hone_task *task,
                            struct hone_pool *pool)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *words = hone_pool_new();
    struct hone_buf out = HONE_BUF_INIT;
    bool is_timed = false;
    for (size_t i = 0; i < task->n_workloads; i++) {
        const struct hone_workload_report *w = find_size(report, task->workloads[i].id);
        is_timed = is_timed || w;
        hone_buf_printf(
            &out, "- %s: ", hone_plain_line(words, task->workloads[i].id, HONE_LIMIT_TRIED_BYTES));
        if (w)
            add_size(&out, w, words);
        else
            hone_buf_str(&out, "not measured in this look");
        hone_buf_str(&out, "\n");
    }
    const char *text = done(&out, pool);
    return is_timed ? text : NULL;
}

static bool is_fast(double ns)
{
    return ns > 0 && isfinite(ns);
}

const char *hone_settings_text(const struct hone_array *points, const double *ns, size_t n,
                               size_t n_all, struct hone_pool *pool)
{
    struct hone_buf out = HONE_BUF_INIT;
    const struct hone_point *p = points->v;
    size_t n_timed = 0, n_shown = 0;
    bool is_shown[HONE_LIMIT_TUNE_POINTS] = {false};
    n = n < points->n ? n : points->n;
    if (n < 2 || n > HONE_LIMIT_TUNE_POINTS || !is_fast(ns[0]))
        return NULL;
    for (size_t i = 0; i < n; i++)
        n_timed += is_fast(ns[i]);
    for (; n_shown < HONE_LIMIT_SETTINGS && n_shown < n_timed; n_shown++) {
        size_t best = n;
        for (size_t i = 0; i < n; i++)
            if (!is_shown[i] && is_fast(ns[i]) && (best == n || ns[i] < ns[best]))
                best = i;
        is_shown[best] = true;
        hone_buf_printf(&out, "- %s: %s%s", hone_tunables_text(&p[best].tunables, pool),
                        hone_plain_ns(pool, ns[best]), best == 0 ? " (the default)\n" : "");
        if (best > 0)
            hone_buf_printf(&out, ", %.3gx the default\n", ns[0] / ns[best]);
    }
    if (!is_shown[0])
        hone_buf_printf(&out, "- %s: %s (the default)\n", hone_tunables_text(&p[0].tunables, pool),
                        hone_plain_ns(pool, ns[0]));
    n_shown += !is_shown[0];
    if (n_all > n_shown)
        hone_buf_printf(&out, "- %zu more, slower or failed\n", n_all - n_shown);
    return done(&out, pool);
}

/* That of the version or of the nearest one on its way, while it has tunables; NULL: none. */
static const char *swept_text(const struct hone_tree *tree, int node, struct hone_pool *pool)
{
    bool has_tunables = tree->nodes[node]->n_tunables > 0;
    int at = node, n = 0;
    for (; at != HONE_NO_NODE && !tree->nodes[at]->settings; at = tree->nodes[at]->parent)
        n++;
    if (at == HONE_NO_NODE || (n > 0 && !has_tunables))
        return NULL;
    if (n == 0)
        return tree->nodes[at]->settings;
    return hone_pool_printf(pool, "(of the version %d step%s before)\n%s", n, n == 1 ? "" : "s",
                            tree->nodes[at]->settings);
}

static bool is_told(const struct hone_edge_record *e, int node)
{
    return e->parent == node && !e->is_under_way;
}

const char *hone_attempts_text(const struct hone_tree *tree, int node, struct hone_pool *pool)
{
    struct hone_buf out = HONE_BUF_INIT;
    size_t n = 0;
    for (size_t i = 0; i < tree->n_edges; i++)
        n += is_told(&tree->edges[i], node);
    for (size_t i = 0; i < tree->n_edges; i++)
        if (is_told(&tree->edges[i], node) && n-- <= HONE_LIMIT_TRIED)
            add_edge(&out, tree, &tree->edges[i], pool);
    return done(&out, pool);
}

const char *hone_lineage_text(const struct hone_tree *tree, int node, struct hone_pool *pool)
{
    struct hone_buf out = HONE_BUF_INIT;
    const struct hone_node *way[HONE_LIMIT_TRIED];
    size_t n = 0;
    for (int i = node; n < HONE_COUNTOF(way) && tree->nodes[i]->parent != HONE_NO_NODE;
         i = tree->nodes[i]->parent)
        way[n++] = tree->nodes[i];
    for (; n > 0; n--) {
        const struct hone_node *at = way[n - 1];
        hone_buf_printf(
            &out, "- %s: %s\n",
            hone_plain_line(pool, at->words ? at->words : at->rewrite, HONE_LIMIT_TRIED_BYTES),
            hone_version_text(at, pool));
    }
    return done(&out, pool);
}

static const struct hone_edge_record *edge_to(const struct hone_tree *tree,
                                              const struct hone_node *n)
{
    for (size_t i = 0; i < tree->n_edges; i++)
        if (tree->edges[i].child == n->index && tree->edges[i].parent == n->parent)
            return &tree->edges[i];
    return NULL;
}

/* A setting of a version is that version. */
static const struct hone_node *untuned(const struct hone_tree *tree, const struct hone_node *n)
{
    while (n->parent != HONE_NO_NODE && n->rewrite && strcmp(n->rewrite, "tune") == 0 &&
           tree->nodes[n->parent]->parent != HONE_NO_NODE)
        n = tree->nodes[n->parent];
    return n;
}

static size_t best_of(const struct hone_tree *tree, const struct hone_node *ret[HONE_LIMIT_BEST])
{
    size_t n = 0;
    for (; n < HONE_LIMIT_BEST; n++) {
        const struct hone_node *best = NULL;
        for (int i = 1; i < tree->n_nodes; i++) {
            const struct hone_node *at = tree->nodes[i];
            bool is_listed = at->parent == HONE_NO_NODE || at->is_refuted;
            for (size_t k = 0; k < n; k++)
                is_listed = is_listed || untuned(tree, ret[k]) == untuned(tree, at);
            if (!is_listed && (!best || hone_node_corrected_value(tree, at) >
                                            hone_node_corrected_value(tree, best)))
                best = at;
        }
        if (!best)
            break;
        ret[n] = best;
    }
    return n;
}

const char *hone_best_text(const struct hone_tree *tree, int node, struct hone_pool *pool)
{
    struct hone_buf out = HONE_BUF_INIT;
    const struct hone_node *best[HONE_LIMIT_BEST];
    size_t n = best_of(tree, best);
    bool has_others = false;
    for (size_t i = 0; i < n; i++) {
        const struct hone_node *at = best[i], *step = untuned(tree, at);
        const struct hone_edge_record *e = edge_to(tree, step);
        const char *words = e && e->plan ? e->plan : step->words ? step->words : step->rewrite;
        bool is_this = step == untuned(tree, tree->nodes[node]);
        has_others = has_others || !is_this;
        hone_buf_printf(&out, "- %s%s%s%s: %s", e && e->strategy ? e->strategy->id : "",
                        e && e->strategy ? " " : "",
                        hone_plain_line(pool, words ? words : "?", HONE_LIMIT_TRIED_BYTES),
                        is_this ? " (this one)" : "", hone_version_text(at, pool));
        if (at->n_findings > 0)
            hone_buf_printf(&out, "; limited by %s", hone_class_name(at->findings[0].class_id));
        hone_buf_str(&out, "\n");
    }
    const char *text = done(&out, pool);
    return has_others ? text : NULL;
}

/* Times of the nearest version on its way that was timed on all sizes, where it was not itself. */
static const char *whole_text(const struct hone_tree *tree, int node, struct hone_pool *pool)
{
    const struct hone_node *n = tree->nodes[node];
    if (n->basis.n_timed >= n->basis.n_sizes)
        return NULL;
    int steps = 0;
    for (; n->parent != HONE_NO_NODE && n->basis.n_timed < n->basis.n_sizes; steps++)
        n = tree->nodes[n->parent];
    if (n->parent == HONE_NO_NODE || !n->times)
        return NULL;
    return hone_pool_printf(pool, "(%s, %d step%s before this version)\n%s",
                            hone_basis_text(&n->basis, pool), steps, steps == 1 ? "" : "s",
                            n->times);
}

struct hone_history_context hone_history_context_of(const struct hone_tree *tree, int node,
                                                    struct hone_pool *pool)
{
    return (struct hone_history_context){.profile = tree->nodes[node]->profile,
                                         .times = tree->nodes[node]->times,
                                         .basis = hone_basis_text(&tree->nodes[node]->basis, pool),
                                         .whole = whole_text(tree, node, pool),
                                         .settings = swept_text(tree, node, pool),
                                         .way = hone_lineage_text(tree, node, pool),
                                         .tried = hone_attempts_text(tree, node, pool)};
}
