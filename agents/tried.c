#include "agents/tried.h"

#include <math.h>
#include <string.h>

#include "tools/evaluate_text.h"
#include "tools/plain.h"
#include "workspace/base/limits.h"

#define TOO_WIDE 2.0 /* high over low of an interval that no version can be ranked by */

const char *hone_interval_text(double ratio, double low, double high, struct hone_pool *pool)
{
    if (!(low > 0) || !(high >= low))
        return hone_pool_printf(pool, "%.3gx", ratio);
    return hone_pool_printf(pool, "%.3gx (%.3g to %.3g%s)", ratio, low, high,
                            high >= TOO_WIDE * low ? ": too wide to tell" : "");
}

const char *hone_step_text(const struct hone_node *from, const struct hone_node *to,
                           struct hone_pool *pool)
{
    double gain = to->value - from->value, down = 0, up = 0;
    bool is_root = from->parent == HONE_NO_NODE;
    if (!(to->low > 0) || (!is_root && !(from->low > 0)))
        return hone_interval_text(exp2(gain), 0, 0, pool);
    if (!is_root) {
        down = log2(from->high) - from->value;
        up = from->value - log2(from->low);
    }
    return hone_interval_text(exp2(gain), exp2(gain - hypot(to->value - log2(to->low), down)),
                              exp2(gain + hypot(log2(to->high) - to->value, up)), pool);
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
                        hone_interval_text(exp2(to->value), to->low, to->high, pool));
    if (to->parent != e->parent)
        hone_buf_str(out, ", the same machine code as a version that was known");
    if (to->is_refuted)
        hone_buf_printf(out, "; a longer look then refused it: %s",
                        to->refuted_by ? to->refuted_by : "not borne out");
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
}

static const char *done(struct hone_buf *out, struct hone_pool *pool)
{
    const char *text = out->data ? hone_pool_strdup(pool, out->data) : NULL;
    hone_buf_done(out);
    return text;
}

static const struct hone_ratio *against_baseline(const struct hone_workload_report *w)
{
    const struct hone_ratio *ratios = w->ratios.v;
    for (size_t i = 0; i < w->ratios.n; i++)
        if (strcmp(ratios[i].against, "baseline") == 0 && ratios[i].ratio > 0)
            return &ratios[i];
    return NULL;
}

const char *hone_times_text(const struct hone_report *report, struct hone_pool *pool)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *words = hone_pool_new();
    struct hone_buf out = HONE_BUF_INIT;
    const struct hone_workload_report *workloads = report->workloads.v;
    for (size_t i = 0, n = 0; i < report->workloads.n && n < HONE_LIMIT_TRIED; i++) {
        double own = hone_workload_time_ns(&workloads[i], "candidate"),
               theirs = hone_workload_time_ns(&workloads[i], "baseline");
        if (workloads[i].is_hidden || !(own > 0))
            continue;
        n++;
        hone_buf_printf(&out, "- %s: %s",
                        hone_plain_line(words, workloads[i].id, HONE_LIMIT_TRIED_BYTES),
                        hone_plain_ns(words, own));
        if (theirs > 0)
            hone_buf_printf(&out, " (baseline %s)", hone_plain_ns(words, theirs));
        const struct hone_ratio *ratio = against_baseline(&workloads[i]);
        if (ratio)
            hone_buf_printf(&out, ", %s",
                            hone_interval_text(ratio->ratio, ratio->low, ratio->high, words));
        hone_buf_str(&out, "\n");
    }
    return done(&out, pool);
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

const char *hone_swept_text(const struct hone_tree *tree, int node, struct hone_pool *pool)
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

const char *hone_tried_text(const struct hone_tree *tree, int node, struct hone_pool *pool)
{
    struct hone_buf out = HONE_BUF_INIT;
    size_t n = 0;
    for (size_t i = 0; i < tree->n_edges; i++)
        n += tree->edges[i].parent == node;
    for (size_t i = 0; i < tree->n_edges; i++)
        if (tree->edges[i].parent == node && n-- <= HONE_LIMIT_TRIED)
            add_edge(&out, tree, &tree->edges[i], pool);
    return done(&out, pool);
}

const char *hone_way_text(const struct hone_tree *tree, int node, struct hone_pool *pool)
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
            &out, "- %s: %s the baseline\n",
            hone_plain_line(pool, at->words ? at->words : at->rewrite, HONE_LIMIT_TRIED_BYTES),
            hone_interval_text(exp2(at->value), at->low, at->high, pool));
    }
    return done(&out, pool);
}

struct hone_past hone_past_of(const struct hone_tree *tree, int node, struct hone_pool *pool)
{
    return (struct hone_past){.times = tree->nodes[node]->times,
                              .settings = hone_swept_text(tree, node, pool),
                              .way = hone_way_text(tree, node, pool),
                              .tried = hone_tried_text(tree, node, pool)};
}
