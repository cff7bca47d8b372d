/* A longer look at the best: decide, sweep of its tunables, confirmation. */
#include "agents/search_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "workspace/base/clock.h"

enum { SWEEP_POINTS = 16, CONFIRM_TRIES = 3 };

static double error_of(const struct hone_outcome *o)
{
    return o->high > o->low && o->low > 0 ? (log2(o->high) - log2(o->low)) / 3.92 : 0.02;
}

static bool is_proof_against(const struct hone_outcome *o)
{
    return o->verdict == HONE_VERDICT_INCORRECT || o->verdict == HONE_VERDICT_FAILED ||
           o->verdict == HONE_VERDICT_SUSPICIOUS || o->verdict == HONE_VERDICT_INVALID;
}

/* ---- decide ---- */

int hone_search_decide(struct hone_search *s, struct hone_node *node, struct hone_err *err)
{
    int64_t wall = s->options->budget_wall_ms;
    struct hone_attempt a = {.source = node->source,
                             .tier = "decide",
                             .subject = node->words,
                             .parent = NULL,
                             .budget_ms =
                                 wall > 0 ? hone_max_i64(500, hone_min_i64(6000, wall / 25)) : 0};
    struct hone_outcome o;
    node->is_decided = true;
    s->phase = "decide";
    int r = hone_search_evaluate(s, &a, &o, err);
    s->phase = "search";
    if (r < 0)
        return r;
    s->decide_ms += o.wall_ms;
    if (is_proof_against(&o))
        node->is_refuted = true;
    else if (o.is_right) {
        node->value = log2(o.ratio);
        node->se = error_of(&o);
    }
    hone_tree_update_best(&s->tree);
    struct hone_search_event event = {.kind = HONE_KIND_DECIDE,
                                      .parent = node->parent,
                                      .node = node->index,
                                      .value = node->value,
                                      .se = node->se,
                                      .outcome = &o,
                                      .is_gain = !node->is_refuted};
    hone_search_tell(s, "decided: %s, %.3gx", hone_verdict_name(o.verdict), o.ratio);
    r = hone_search_record_result(s, &event, err);
    return r < 0 ? r : hone_search_set_branch(s, err);
}

/* ---- sweep ---- */

/* A setting costs about a screen; half of what is left before the confirmation may go into that. */
static size_t affordable_points(const struct hone_search *s)
{
    int64_t left = hone_search_left_ms(s);
    if (left == INT64_MAX)
        return SWEEP_POINTS;
    int64_t each = hone_max_i64(200, s->longest_screen_ms);
    int64_t n = (left - hone_search_reserve_ms(s)) / 2 / each;
    return (size_t)hone_max_i64(0, hone_min_i64(SWEEP_POINTS, n));
}

/* At most max of all combinations, the default first, the others evenly spread. */
static void thin_out(struct hone_array *points, size_t max)
{
    struct hone_point *v = points->v;
    if (points->n <= max)
        return;
    for (size_t i = 0; i < max; i++)
        v[i] = v[i * points->n / max];
    points->n = max;
}

/* "NAME: 6, 4, 8" with 8 in front; NULL when the pragma is written in a way that is not understood.
 */
static char *put_first(struct hone_pool *pool, const char *source, const char *name, int64_t value)
{
    for (const char *at = source; (at = strstr(at, "#pragma hone tune(")); at++) {
        const char *s = at + strlen("#pragma hone tune(");
        size_t len = strlen(name);
        if (strncmp(s, name, len) != 0)
            continue;
        const char *list = s + len + strspn(s + len, " ");
        const char *end = strchr(list, ')');
        if (*list != ':' || !end)
            continue;
        HONE_CLEANUP(hone_buf_done) struct hone_buf out = HONE_BUF_INIT;
        hone_buf_add(&out, source, (size_t)(list + 1 - source));
        hone_buf_printf(&out, " %lld", (long long)value);
        bool was_there = false;
        for (const char *v = list + 1; v < end;) {
            char *stop = NULL;
            long long x = strtoll(v, &stop, 10);
            if (stop == v)
                return NULL;
            if (x == value)
                was_there = true;
            else
                hone_buf_printf(&out, ", %lld", x);
            v = stop + strspn(stop, ", ");
        }
        hone_buf_str(&out, end);
        return was_there ? hone_pool_strdup(pool, out.data) : NULL;
    }
    return NULL;
}

static const char *with_setting(struct hone_pool *pool, const char *source,
                                const struct hone_point *point, const char **ret_words)
{
    const struct hone_tunable *t = point->tunables.v;
    const char *words = "";
    for (size_t i = 0; source && i < point->tunables.n; i++) {
        source = put_first(pool, source, t[i].name, t[i].value);
        words = hone_pool_printf(pool, "%s%s%s=%lld", words, *words ? " " : "", t[i].name,
                                 (long long)t[i].value);
    }
    *ret_words = words;
    return source;
}

static int keep_setting(struct hone_search *s, struct hone_node *node,
                        const struct hone_point *point, struct hone_err *err)
{
    const char *words = NULL, *source = with_setting(s->pool, node->source, point, &words);
    char hash[HONE_HASH_TEXT_BYTES];
    if (!source)
        return 0;
    hone_source_hash(source, hash);
    if (hone_tree_find(&s->tree, hash))
        return 0;
    struct hone_outcome o;
    struct hone_attempt a = {
        .source = source,
        .tier = "screen",
        .parent = node->commit,
        .subject = hone_pool_printf(s->pool, "tune: %s", words),
        .body =
            "The best setting of a sweep without a model over the tunables written in the source."};
    int r = hone_search_evaluate(s, &a, &o, err);
    if (r < 0 || !o.is_right)
        return r;
    struct hone_node *n =
        hone_tree_add(&s->tree, node->index, source, o.commit, log2(o.ratio), error_of(&o));
    if (!n)
        return 0;
    n->words = a.subject;
    n->rewrite = "tune";
    n->features = o.measured;
    n->is_swept = true;
    hone_tree_back_up(&s->tree, node->index, n->value, n->value > node->value);
    struct hone_search_event event = {.kind = HONE_KIND_TUNE,
                                      .parent = node->index,
                                      .node = n->index,
                                      .words = n->words,
                                      .value = n->value,
                                      .se = n->se,
                                      .outcome = &o,
                                      .is_gain = n->value > node->value};
    hone_search_tell(s, "tune %s: %.3gx", words, o.ratio);
    r = hone_search_record_result(s, &event, err);
    return r < 0 ? r : hone_search_set_branch(s, err);
}

int hone_search_sweep(struct hone_search *s, struct hone_node *node, struct hone_err *err)
{
    struct hone_array axes, points;
    const char *where = NULL;
    node->is_swept = true;
    if (hone_tune_parse(node->source, s->pool, &axes, &where, NULL) < 0 || axes.n == 0 ||
        hone_tune_points(&axes, where, s->pool, &points, NULL) < 0)
        return 0;
    thin_out(&points, affordable_points(s));
    if (points.n < 2)
        return 0;
    struct hone_outcome o;
    struct hone_attempt a = {
        .source = node->source, .tier = "screen", .subject = node->words, .points = points};
    s->phase = "sweep";
    hone_search_tell(s, "sweep over %zu settings of %s", points.n,
                     *node->words ? node->words : "the baseline");
    int r = hone_search_evaluate(s, &a, &o, err);
    s->phase = "search";
    if (r < 0)
        return r;
    struct hone_search_event event = {.kind = HONE_KIND_SWEEP,
                                      .parent = node->parent,
                                      .node = node->index,
                                      .value = node->value,
                                      .se = node->se,
                                      .outcome = &o};
    r = hone_search_record_result(s, &event, err);
    if (r < 0 || o.best_point <= 0 || (size_t)o.best_point >= points.n)
        return r;
    return keep_setting(s, node, &((const struct hone_point *)points.v)[o.best_point], err);
}

/* ---- confirm ---- */

static int64_t confirm_budget_ms(const struct hone_search *s)
{
    int64_t left = hone_search_left_ms(s);
    if (left == INT64_MAX)
        return 0;
    /* checks, builds and the baseline's own calls take their part of what is left */
    return hone_max_i64(1000, hone_min_i64(30000, left * 45 / 100));
}

/* One confirmation; what it measured replaces what shorter looks had said of the node. */
static int confirm_node(struct hone_search *s, struct hone_node *n, struct hone_outcome *ret,
                        struct hone_err *err)
{
    struct hone_attempt a = {.source = n->source,
                             .tier = "confirm",
                             .subject = n->words,
                             .budget_ms = confirm_budget_ms(s)};
    hone_search_tell(s, "confirming %s", *n->words ? n->words : "the baseline");
    int r = hone_search_evaluate(s, &a, ret, err);
    if (r < 0)
        return r;
    n->is_decided = true;
    n->is_refuted = is_proof_against(ret);
    if (!n->is_refuted && ret->is_right) {
        n->value = log2(ret->ratio);
        n->se = error_of(ret);
    }
    struct hone_search_event event = {.kind = HONE_KIND_CONFIRM,
                                      .parent = n->parent,
                                      .node = n->index,
                                      .value = n->value,
                                      .se = n->se,
                                      .outcome = ret,
                                      .is_gain = !n->is_refuted};
    hone_search_tell(s, "confirmed: %s, %.3gx (%s)", hone_verdict_name(ret->verdict), ret->ratio,
                     ret->reason);
    return hone_search_record_result(s, &event, err);
}

/* The best of short looks is partly luck: when a confirmation puts it behind another version, that
 * one is confirmed too while there is time, and always when nothing confirmed beats the baseline.
 * What is presented is the best of the confirmed. */
int hone_search_confirm(struct hone_search *s, struct hone_outcome *ret, int *ret_node,
                        struct hone_err *err)
{
    int confirmed = HONE_NO_NODE;
    double best = 0;
    s->phase = "confirm";
    for (int i = 0; i < CONFIRM_TRIES && s->tree.best != HONE_NO_NODE; i++) {
        struct hone_node *n = s->tree.nodes[s->tree.best];
        struct hone_outcome o;
        if (n->index == confirmed)
            break;
        /* The last try is the baseline's when all else was slower. */
        if (i == CONFIRM_TRIES - 1 && best < 1 && s->tree.n_nodes > 0)
            n = s->tree.nodes[0];
        int r = confirm_node(s, n, &o, err);
        if (r < 0)
            return r;
        if (!n->is_refuted && o.is_right && (confirmed == HONE_NO_NODE || o.ratio > best)) {
            confirmed = n->index;
            best = o.ratio;
            *ret = o;
        }
        hone_tree_update_best(&s->tree);
        if (best >= 1 && hone_search_left_ms(s) < o.wall_ms)
            break;
    }
    *ret_node = confirmed;
    if (confirmed == HONE_NO_NODE)
        return 0;
    s->tree.best = confirmed;
    return hone_search_set_branch(s, err);
}
