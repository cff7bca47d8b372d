/* SPDX-License-Identifier: Apache-2.0 */
/* A longer look at the best: decide, sweep of its tunables, confirmation. */
#include "agents/search/search_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agents/coder/history_context.h"
#include "workspace/base/text.h"
#include "workspace/base/clock.h"
#include "workspace/base/limits.h"
#include "workspace/history.h"

enum { SWEEP_POINTS = 32, CUDA_SWEEP_POINTS = 32 };
enum { RUNG_MS = 100, HALVE_FROM = 5 }; /* a setting's time in the first rung; settings */
#define RESULT_BYTES   190              /* of a commit's subject */
#define CLEARLY_FASTER 0.995 /* of the default's time: a setting that is worth combining */
#define LEAST_TUNING   1.01  /* a setting less faster than the default is no version of its own */

static bool is_proof_against(const struct hone_search_outcome *o)
{
    return o->verdict == HONE_VERDICT_INCORRECT || o->verdict == HONE_VERDICT_FAILED ||
           o->verdict == HONE_VERDICT_SUSPICIOUS || o->verdict == HONE_VERDICT_INVALID;
}

/* The record of a longer look at a version. *ret_why: why it is refuted; NULL: it is not. */
static int record_look(struct hone_search *s, enum hone_result_kind kind, const struct hone_node *n,
                       const struct hone_search_outcome *o, const char **ret_why,
                       struct hone_err *err)
{
    struct hone_event event = hone_event_new_result(kind);
    const char *why = NULL;
    if (is_proof_against(o)) /* what the next looks at this version and its kin should know */
        why = hone_pool_printf(s->pool, "%s: %s",
                               hone_verdict_words(s, hone_verdict_name(o->verdict), o->reason),
                               hone_plain_line(s->pool, o->summary, HONE_LIMIT_TRIED_BYTES));
    hone_search_put_known(&event.result, n);
    if (!why && o->is_right)
        hone_search_put_value(&event.result, o);
    event.result.parent = hone_state_number(&s->state, n->parent);
    event.result.note = why;
    event.result.is_gain = !why;
    *ret_why = why;
    return hone_search_record_event(s, &event, o, NULL, err);
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
    struct hone_search_outcome o;
    const char *why = NULL;
    s->phase = HONE_PHASE_DECIDE;
    int r = hone_search_evaluate(s, &a, &o, err);
    s->phase = HONE_PHASE_SEARCH;
    if (r < 0)
        return r;
    r = record_look(s, HONE_KIND_DECIDE, node, &o, &why, err);
    if (r < 0)
        return r;
    if (why)
        hone_search_tell(s, "decided: %s", why);
    else
        hone_search_tell(s, "decided: %s, %.3gx", hone_verdict_name(o.verdict), o.ratio);
    if (o.verdict == HONE_VERDICT_FASTER)
        hone_search_milestone(s, node, false);
    return hone_search_set_branch(s, err);
}

/* ---- sweep ---- */

static size_t most_points(const struct hone_search *s)
{
    return strcmp(s->target, "cuda") == 0 ? CUDA_SWEEP_POINTS : SWEEP_POINTS;
}

static size_t affordable_points(const struct hone_search *s)
{
    int64_t room = hone_search_room_ms(s), most = (int64_t)most_points(s);
    int64_t n = room == INT64_MAX ? most : hone_pace_settings(&s->pace, room);
    return (size_t)hone_min_i64(most, n);
}

/* A setting with the given index into each axis' values; false when where() forbids it. */
static bool make_point(struct hone_pool *pool, const struct hone_array *axes, const char *where,
                       const size_t *at, struct hone_point *ret)
{
    const struct hone_tune_axis *axis = axes->v;
    struct hone_tunable *t = hone_pool_alloc(pool, (axes->n + 1) * sizeof(*t));
    int64_t legal = 1;
    for (size_t i = 0; i < axes->n; i++)
        t[i] = (struct hone_tunable){axis[i].name, axis[i].values.v[at[i]]};
    *ret = (struct hone_point){.tunables = {.v = t, .n = axes->n}};
    if (where && *where && hone_where_eval(where, t, axes->n, &legal, NULL) < 0)
        return false;
    return legal != 0;
}

/* The default and what differs from it along one axis: where all combinations would be too many.
 * Nearer values of all axes come before farther ones of any. */
static void one_by_one(struct hone_pool *pool, const struct hone_array *axes, const char *where,
                       size_t max, struct hone_array *ret)
{
    const struct hone_tune_axis *axis = axes->v;
    size_t at[HONE_LIMIT_TUNABLES] = {0};
    struct hone_point *v = hone_pool_alloc(pool, (max + 1) * sizeof(*v));
    *ret = (struct hone_array){.v = v};
    if (max > 0 && make_point(pool, axes, where, at, &v[0]))
        ret->n = 1;
    for (size_t step = 1; step < HONE_LIMIT_TUNE_VALUES; step++)
        for (size_t i = 0; i < axes->n && ret->n < max; i++) {
            if (step >= axis[i].values.n)
                continue;
            at[i] = step;
            ret->n += make_point(pool, axes, where, at, &v[ret->n]);
            at[i] = 0;
        }
}

/* The best value of each axis together, and the same with one axis at its default. */
static void combine(struct hone_pool *pool, const struct hone_array *axes, const char *where,
                    const struct hone_array *tried, const struct hone_search_outcome *o,
                    struct hone_array *ret)
{
    const struct hone_tune_axis *axis = axes->v;
    const struct hone_point *points = tried->v;
    size_t best[HONE_LIMIT_TUNABLES] = {0}, n_better = 0;
    for (size_t i = 0; i < axes->n; i++) {
        double least = o->point_ns[0] * CLEARLY_FASTER;
        for (size_t p = 1; p < tried->n && p < o->n_points; p++) {
            int64_t value = ((const struct hone_tunable *)points[p].tunables.v)[i].value;
            if (value == axis[i].values.v[0] || !(o->point_ns[p] < least))
                continue;
            least = o->point_ns[p];
            for (size_t k = 0; k < axis[i].values.n; k++)
                best[i] = axis[i].values.v[k] == value ? k : best[i];
        }
        n_better += best[i] > 0;
    }
    struct hone_point *v = hone_pool_alloc(pool, (axes->n + 3) * sizeof(*v));
    *ret = (struct hone_array){.v = v};
    if (n_better < 2)
        return;
    v[ret->n++] = points[o->best_point];
    ret->n += make_point(pool, axes, where, best, &v[ret->n]);
    for (size_t i = 0; i < axes->n && n_better > 2; i++) {
        size_t keep = best[i];
        if (keep == 0)
            continue;
        best[i] = 0;
        ret->n += make_point(pool, axes, where, best, &v[ret->n]);
        best[i] = keep;
    }
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
    if (hone_tree_find(&s->state.tree, hash))
        return 0;
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_search_outcome o;
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
    struct hone_event event = hone_event_new_result(HONE_KIND_TUNE);
    struct hone_node *n = NULL;
    event.result.parent = node->number;
    event.result.words = a.subject;
    hone_search_put_value(&event.result, &o);
    event.result.is_gain = event.result.value > node->value;
    if (hone_search_draft(s, &event.result, &o, source, pool, &n, NULL) < 0)
        return 0;
    hone_search_tell(s, "tune %s: %.3gx", words, o.ratio);
    r = hone_search_record_event(s, &event, &o, n, err);
    return r < 0 ? r : hone_search_set_branch(s, err);
}

struct rung { /* of a sweep */
    struct hone_array points;
    size_t n_all;    /* settings of the first rung */
    int64_t each_ms; /* timing of one setting; 0: the tier's */
};

static int try_points(struct hone_search *s, struct hone_node *node, const struct rung *rung,
                      struct hone_search_outcome *ret, struct hone_err *err)
{
    struct hone_array points = rung->points;
    struct hone_attempt a = {.source = node->source,
                             .tier = "screen",
                             .subject = node->words,
                             .points = points,
                             .budget_ms = rung->each_ms * ((int64_t)points.n + 1)};
    hone_search_tell(s, "sweep over %zu settings of %s", points.n,
                     *node->words ? node->words : "the baseline");
    int r = hone_search_evaluate(s, &a, ret, err);
    if (r < 0)
        return r;
    const char *settings =
        hone_settings_text(&points, ret->point_ns, ret->n_points, rung->n_all, s->pool);
    struct hone_event event = hone_event_new_result(HONE_KIND_SWEEP);
    hone_search_put_known(&event.result, node);
    event.result.parent = hone_state_number(&s->state, node->parent);
    event.result.settings = settings ? settings : node->settings;
    return hone_search_record_event(s, &event, ret, NULL, err);
}

static const struct hone_point *best_of(const struct hone_array *points,
                                        const struct hone_search_outcome *o)
{
    if (o->best_point < 0 || (size_t)o->best_point >= points->n)
        return NULL;
    return &((const struct hone_point *)points->v)[o->best_point];
}

static bool is_same_point(const struct hone_point *a, const struct hone_point *b)
{
    const struct hone_tunable *x = a->tunables.v, *y = b->tunables.v;
    for (size_t i = 0; i < a->tunables.n; i++)
        if (x[i].value != y[i].value)
            return false;
    return true;
}

/* A setting that is hardly faster than the default, the first of both rungs, is noise: as a version
 * of its own it would be built upon. */
static bool is_faster(const struct hone_search_outcome *o)
{
    double was = o->n_points > 0 ? o->point_ns[0] : (double)NAN;
    return !(was > 0) || was > LEAST_TUNING * o->point_ns[o->best_point];
}

/* The fastest third of a short look, the default in any case, and what was combined since. */
static void survivors(struct hone_pool *pool, const struct hone_array *points,
                      const struct hone_search_outcome *o, const struct hone_array *more,
                      struct hone_array *ret)
{
    const struct hone_point *from = points->v, *extra = more->v;
    size_t n_keep = (points->n + 2) / 3;
    struct hone_point *v = hone_pool_alloc(pool, (n_keep + more->n + 2) * sizeof(*v));
    bool *is_chosen = hone_pool_alloc(pool, (points->n + 1) * sizeof(*is_chosen));
    memset(is_chosen, 0, points->n);
    *ret = (struct hone_array){.v = v};
    v[ret->n++] = from[0];
    is_chosen[0] = true;
    for (size_t k = 0; k < n_keep; k++) {
        size_t best = 0;
        for (size_t i = 1; i < points->n && i < o->n_points; i++)
            if (!is_chosen[i] && o->point_ns[i] > 0 &&
                (best == 0 || o->point_ns[i] < o->point_ns[best]))
                best = i;
        if (best == 0)
            break;
        is_chosen[best] = true;
        v[ret->n++] = from[best];
    }
    for (size_t i = 0; i < more->n; i++) {
        bool is_new = true;
        for (size_t k = 0; k < ret->n; k++)
            is_new = is_new && !is_same_point(&v[k], &extra[i]);
        if (is_new)
            v[ret->n++] = extra[i];
    }
}

/* Successive halving in two rungs, no coder: all settings for a short while, then the fastest third
 * for three times as long. Where all combinations are too many, the first rung goes along each
 * axis, and the second has the winners combined as well. */
int hone_search_sweep(struct hone_search *s, struct hone_node *node, struct hone_err *err)
{
    struct hone_array axes, points = {.n = 0}, again = {.n = 0}, rung = {.n = 0};
    const char *where = NULL;
    size_t max = affordable_points(s);
    hone_state_skip_sweep(&s->state, node->index); /* whatever comes of it, it is not begun again */
    if (hone_tune_parse(node->source, s->pool, &axes, &where, NULL) < 0 || axes.n == 0)
        return 0;
    bool is_whole = hone_tune_points(&axes, where, s->pool, &points, NULL) == 0 && points.n <= max;
    if (!is_whole)
        one_by_one(s->pool, &axes, where, max, &points);
    const struct hone_planned one = {.n = 2}, two = {.n = 3}; /* rungs, and the kept setting */
    if (points.n < 2 || hone_search_over(s, &one))
        return 0;
    struct hone_search_outcome o;
    bool is_halved = points.n >= HALVE_FROM && !hone_search_over(s, &two);
    s->phase = HONE_PHASE_SWEEP;
    const struct rung first = {points, points.n, is_halved ? RUNG_MS : 0};
    int r = try_points(s, node, &first, &o, err);
    const struct hone_point *best = r < 0 ? NULL : best_of(&points, &o);
    if (best && !is_whole && o.best_point > 0 && o.n_points == points.n)
        combine(s->pool, &axes, where, &points, &o, &again);
    if (best)
        survivors(s->pool, &points, &o, &again, &rung);
    const struct hone_planned second = {.n = 2, .wall_ms = hone_pace_sweep_ms(&s->pace, rung.n)};
    if (best && (is_halved || again.n > 1) && !hone_search_over(s, &second)) {
        r = try_points(s, node, &(struct rung){rung, points.n, 0}, &o, err);
        if (r == 0)
            best = best_of(&rung, &o);
    }
    s->phase = HONE_PHASE_SEARCH;
    bool is_better = best && !is_same_point(best, points.v) && is_faster(&o);
    return r < 0 || !is_better ? r : keep_setting(s, node, best, err);
}

/* ---- confirm ---- */

static int64_t confirm_budget_ms(const struct hone_search *s)
{
    int64_t left = hone_search_left_ms(s);
    return left == INT64_MAX ? 0 : hone_pace_timing_ms(&s->pace, s->options->budget_wall_ms, left);
}

int hone_search_confirm(struct hone_search *s, struct hone_node *n, struct hone_search_outcome *ret,
                        struct hone_err *err)
{
    struct hone_attempt a = {.source = n->source,
                             .tier = "confirm",
                             .subject = n->words,
                             .budget_ms = confirm_budget_ms(s),
                             .finish_ms = hone_search_finish_ms(s)};
    s->phase = HONE_PHASE_CONFIRM;
    const char *cost = hone_search_cost_words(s, hone_pace_confirm_ms(&s->pace));
    hone_search_tell(s, "confirming %s%s", *n->words ? n->words : "the baseline", cost);
    int r = hone_search_evaluate(s, &a, ret, err);
    if (r < 0)
        return r;
    const char *why = NULL;
    r = record_look(s, HONE_KIND_CONFIRM, n, ret, &why, err);
    if (r < 0)
        return r;
    if (isfinite(ret->ratio)) {
        s->confirmed = n;
        s->confirmed_ratio = ret->ratio;
        s->confirmed_verdict = ret->verdict;
    }
    if (why)
        hone_search_tell(s, "the confirmation says: %s", why);
    else
        hone_search_tell(s, "the confirmation says: %s, %.3gx (%s)",
                         hone_verdict_name(ret->verdict), ret->ratio, ret->reason);
    if (ret->verdict == HONE_VERDICT_FASTER)
        hone_search_milestone(s, n, true);
    return 0;
}

/* "Vs-fast-math: 1.42 [1.40, 1.44]" and so on, a line each. */
static const char *yardstick_lines(const struct hone_search_outcome *o, struct hone_pool *pool)
{
    const struct hone_yardstick *y = o->yardsticks.v;
    const char *text = "";
    for (size_t i = 0; i < o->yardsticks.n; i++)
        text = hone_pool_printf(pool, "%sVs-%s: %.3g [%.3g, %.3g]\n", text, y[i].name, y[i].ratio,
                                y[i].low, y[i].high);
    return text;
}

int hone_search_present(struct hone_search *s, const struct hone_node *best,
                        const struct hone_search_outcome *o, struct hone_err *err)
{
    const struct hone_branch_result result = {.subject =
                                                  hone_plain_line(s->pool, o->words, RESULT_BYTES),
                                              .body = o->rests_on,
                                              .trailers = yardstick_lines(o, s->pool),
                                              .time_s = hone_wall_ms() / 1000};
    if (!best->commit)
        return 0;
    return hone_workspace_set_result(s->ctx->app->ws, s->name, best->commit, &result, err);
}
