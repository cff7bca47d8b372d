/* SPDX-License-Identifier: Apache-2.0 */
/* Recording: a template is one candidate with eight tunables, and its states are the points of
 * sweeps, so that one job builds, checks and times a part of them against one baseline.
 *
 * Parts are strided, not in a row, so that a machine that grows slower does not make one strategy
 * look bad. A state that failed twice for the same reason is not tried again. */
#include "agents/offline/lattice_record.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tools/evaluate.h"
#include "tools/format/options.h"
#include "workspace/base/clock.h"
#include "workspace/base/file.h"
#include "workspace/base/limits.h"

enum { PARTS = 8, DEFAULT_BUDGET_MS = 300, PROFILES_A_SAVE = 8 };

struct work {
    struct hone_tool_ctx *ctx;
    const struct hone_lattice_recording *in;
    const char *text, *path;
    struct hone_lattice *lattice;
    struct hone_task *task;
    struct hone_c_parser *parser;
    struct hone_pool *pool;
};

static int falling(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

/* The gain that a state must have by now to be measured once more. */
static double gain_to_repeat(const struct work *w, int64_t round)
{
    double gains[HONE_LATTICE_STATES];
    size_t n = 0;
    for (unsigned s = 0; s < 1u << w->lattice->n_strategies; s++)
        if (hone_lattice_is_right(w->lattice, s))
            gains[n++] = hone_lattice_gain(w->lattice, s);
    if (round == 0 || w->in->n_top <= 0 || (size_t)w->in->n_top >= n)
        return -INFINITY;
    qsort(gains, n, sizeof(*gains), falling);
    return gains[w->in->n_top - 1];
}

static bool is_wanted(const struct work *w, unsigned state, int64_t round, double least)
{
    const struct hone_lattice_state *s = &w->lattice->states[state];
    bool has_failed = *s->reason && strcmp(s->reason, "screened") != 0;
    return s->is_legal && !has_failed && (int64_t)s->n <= round &&
           (s->n == 0 || state == 0 || hone_lattice_gain(w->lattice, state) >= least);
}

static void append(struct hone_pool *pool, double **list, size_t n, double value)
{
    double *grown = hone_pool_alloc(pool, (n + 1) * sizeof(*grown));
    if (n > 0)
        memcpy(grown, *list, n * sizeof(*grown));
    grown[n] = value;
    *list = grown;
}

/* What the machine did to a state is no word on it: such ends are tried again. */
static bool is_of_the_machine(enum hone_reason reason)
{
    return reason == HONE_REASON_INFRA || reason == HONE_REASON_TIMEOUT ||
           reason == HONE_REASON_CANCELLED || reason == HONE_REASON_NO_JAIL;
}

static void keep_point(struct work *w, struct hone_lattice_state *s,
                       const struct hone_point_report *p)
{
    if (p->code)
        snprintf(s->code, sizeof(s->code), "%s", p->code);
    if (is_of_the_machine(p->reason))
        return;
    if (p->reason != HONE_REASON_SCREENED && s->n > 0)
        return; /* right before: a hiccup */
    s->reason = hone_reason_name(p->reason);
    if (!(p->median_ns > 0) || !(p->ratio > 0) || s->n >= HONE_LIMIT_LATTICE_REPEATS)
        return;
    append(w->pool, &s->ns, s->n, p->median_ns);
    append(w->pool, &s->ratio, s->n, p->ratio);
    s->n++;
}

static struct hone_array make_points(struct work *w, const unsigned *states, size_t n)
{
    const struct hone_lattice *l = w->lattice;
    struct hone_point *points = hone_pool_alloc(w->pool, n * sizeof(*points));
    for (size_t i = 0; i < n; i++) {
        struct hone_tunable *t = hone_pool_alloc(w->pool, l->n_strategies * sizeof(*t));
        for (size_t k = 0; k < l->n_strategies; k++)
            t[k] = (struct hone_tunable){l->strategies[k].name, states[i] >> k & 1};
        points[i] = (struct hone_point){.tunables = {.v = t, .n = l->n_strategies}};
    }
    return (struct hone_array){.v = points, .n = n};
}

static void keep_bound(struct work *w, const struct hone_report *report)
{
    double log_bound = 0;
    for (size_t i = 0; i < report->workloads.n; i++) {
        const struct hone_workload_report *r =
            &((const struct hone_workload_report *)report->workloads.v)[i];
        if (!(r->bound_ns > 0))
            return;
        log_bound += log(r->bound_ns) / (double)report->workloads.n;
    }
    if (report->workloads.n > 0)
        w->lattice->bound_ns = exp(log_bound);
    if (report->machine && report->machine->cpu)
        w->lattice->machine = hone_pool_strdup(w->pool, report->machine->cpu);
    if (report->machine)
        w->lattice->n_cores = report->machine->n_cores;
    if (report->build && report->build->compiler)
        w->lattice->harness = hone_pool_strdup(w->pool, report->build->compiler);
}

/* The task was loaded for one target: all of its workloads are that target's. */
static struct hone_strs first_workloads(const struct work *w, struct hone_pool *pool)
{
    size_t n = (size_t)hone_min_i64(w->in->n_workloads, (int64_t)w->task->n_workloads);
    const char **names = hone_pool_alloc(pool, (n + 1) * sizeof(*names));
    for (size_t i = 0; i < n; i++)
        names[i] = w->task->workloads[i].id;
    return (struct hone_strs){.v = names, .n = n};
}

static int run_part(struct work *w, const unsigned *states, size_t n, struct hone_err *err)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_tool_ctx ctx = *w->ctx;
    int64_t each = w->in->budget_ms > 0 ? w->in->budget_ms : DEFAULT_BUDGET_MS;
    struct hone_evaluation_request req = {.task = w->task,
                                          .target = w->lattice->target,
                                          .source = w->text,
                                          .points = make_points(w, states, n),
                                          .workloads = first_workloads(w, pool),
                                          .tier = HONE_TIER_SCREEN,
                                          .budget_ms = each * (int64_t)(n + 1),
                                          .timeout_ms = HONE_LIMIT_TIMEOUT_MS,
                                          .no_commit = true,
                                          .no_cache = true};
    struct hone_evaluation e;
    ctx.pool = pool;
    ctx.on_progress = NULL;
    int r = hone_evaluate(&ctx, &req, &e, err);
    if (r < 0)
        return r;
    const struct hone_point_report *points = e.report.points.v;
    if (e.report.points.n != n)
        return hone_fail(err, HONE_E_TARGET, "the sweep answered %zu of %zu settings: %s (%s)",
                         e.report.points.n, n, hone_reason_name(e.report.reason),
                         e.report.summary ? e.report.summary : "");
    for (size_t i = 0; i < n; i++)
        keep_point(w, &w->lattice->states[states[i]], &points[i]);
    keep_bound(w, &e.report);
    return hone_lattice_save(w->lattice, w->path, err);
}

static int run_round(struct work *w, int64_t round, struct hone_err *err)
{
    unsigned n_states = 1u << w->lattice->n_strategies;
    double least = gain_to_repeat(w, round);
    for (unsigned part = 0; part < PARTS; part++) {
        unsigned states[HONE_LATTICE_STATES];
        size_t n = 0;
        for (unsigned s = part; s < n_states; s += PARTS) {
            unsigned turned =
                (s * 167 + 13 * (unsigned)round) % n_states; /* another order a round */
            if (is_wanted(w, turned, round, least))
                states[n++] = turned;
        }
        if (n == 0)
            continue;
        if (hone_cancel_is_set(w->ctx->cancel))
            return hone_fail(err, HONE_E_CANCEL, "cancelled; the same command goes on from here");
        hone_tool_progress(w->ctx, (double)part, PARTS, "%s: round %lld of %lld, %zu states",
                           w->lattice->kernel, (long long)round + 1, (long long)w->in->rounds, n);
        int r = run_part(w, states, n, err);
        if (r < 0)
            return r;
    }
    return 0;
}

/* ---- features ---- */

/* Adds the counters of a state to its features. */
static int profile_state(struct work *w, unsigned state, struct hone_err *err)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_tool_ctx ctx = *w->ctx;
    const char *source = NULL;
    if (!hone_lattice_is_right(w->lattice, state))
        return 0;
    int r = hone_lattice_source(w->lattice, w->text, state, pool, &source, err);
    if (r < 0)
        return r;
    struct hone_evaluation_request req = {.task = w->task,
                                          .target = w->lattice->target,
                                          .source = source,
                                          .workloads = first_workloads(w, pool),
                                          .tier = HONE_TIER_SCREEN,
                                          .stages = "build,smoke,profile",
                                          .no_commit = true};
    struct hone_evaluation e;
    ctx.pool = pool;
    ctx.on_progress = NULL;
    r = hone_evaluate(&ctx, &req, &e, err);
    if (r == 0)
        hone_features_of_counters(&e.report, &w->lattice->states[state].features);
    return r;
}

/* Of its text and its times; counters that are there stay. */
static int features_of(struct work *w, unsigned state, struct hone_err *err)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_lattice_state *s = &w->lattice->states[state];
    struct hone_features counters = s->features;
    struct hone_coder_input in;
    const char *source = NULL;
    int r = hone_lattice_source(w->lattice, w->text, state, pool, &source, err);
    if (r == 0)
        r = hone_coder_read_kernel(w->parser, w->task, w->lattice->target, source, pool, &in, err);
    if (r < 0)
        return hone_wrap(err, "%s, state %u", w->lattice->kernel, state);
    hone_features_of(&in, w->task, NULL, &s->features);
    if (w->lattice->n_cores > 0) /* of the machine that measured, not of this one */
        s->features.v[HONE_F_CORES] = (struct hone_feature){true, (double)w->lattice->n_cores};
    for (int i = HONE_F_SM_ACTIVE; i < HONE_N_FEATURES; i++)
        s->features.v[i] = counters.v[i];
    if (s->n > 0 && w->lattice->bound_ns > 0) {
        double log_ns = 0;
        for (size_t i = 0; i < s->n; i++)
            log_ns += log(s->ns[i]) / (double)s->n;
        s->features.v[HONE_F_NS] = (struct hone_feature){true, exp(log_ns)};
        s->features.v[HONE_F_PERCENT_OF_BOUND] =
            (struct hone_feature){true, 100 * w->lattice->bound_ns / exp(log_ns)};
    }
    return 0;
}

/* Near the naive version first: a search that may try eight steps is rarely far from it. A profile
 * takes seconds, so that all of them may be too many; what is there is kept. */
static int profile_all(struct work *w, struct hone_err *err)
{
    unsigned n_done = 0;
    int r = 0;
    for (int n_on = 0; n_on <= (int)w->lattice->n_strategies; n_on++)
        for (unsigned s = 0; s < 1u << w->lattice->n_strategies && r == 0; s++) {
            const struct hone_lattice_state *state = &w->lattice->states[s];
            if (__builtin_popcount(s) != n_on || !state->is_legal ||
                state->features.v[HONE_F_SM_ACTIVE].is_present)
                continue;
            if (hone_cancel_is_set(w->ctx->cancel))
                return hone_fail(err, HONE_E_CANCEL,
                                 "cancelled; the same command goes on from here");
            r = profile_state(w, s, err);
            if (r == 0 && ++n_done % PROFILES_A_SAVE == 0) {
                hone_tool_progress(w->ctx, n_on, (double)w->lattice->n_strategies,
                                   "%s: %u profiled", w->lattice->kernel, n_done);
                r = hone_lattice_save(w->lattice, w->path, err);
            }
        }
    return r;
}

/* ---- the whole ---- */

static void take_old(struct work *w)
{
    struct hone_lattice *old = NULL;
    if (w->in->is_fresh || hone_lattice_load(w->path, w->pool, &old, NULL) < 0 ||
        strcmp(old->template_hash, w->lattice->template_hash) != 0)
        return;
    w->lattice->bound_ns = old->bound_ns;
    w->lattice->machine = old->machine;
    w->lattice->harness = old->harness;
    w->lattice->n_cores = old->n_cores;
    w->lattice->note = old->note;
    for (size_t i = 0; i < HONE_LATTICE_STATES; i++)
        if (w->lattice->states[i].is_legal)
            w->lattice->states[i] = old->states[i];
}

static int open_work(struct work *w, struct hone_err *err)
{
    const char *slash = strrchr(w->in->template_path, '/');
    const char *name = slash ? slash + 1 : w->in->template_path;
    const char *kernel = hone_pool_strndup(w->pool, name, strcspn(name, "."));
    HONE_AUTOFREE char *text = NULL;
    size_t len = 0;
    int r = hone_file_read(w->in->template_path, HONE_LIMIT_SOURCE_BYTES, &text, &len, err);
    if (r < 0)
        return r;
    w->text = hone_pool_strdup(w->pool, text);
    r = hone_lattice_of_template(w->text, kernel, w->pool, &w->lattice, err);
    if (r == 0)
        r = hone_workspace_task(w->ctx->app->ws, w->lattice->task, &w->task, err);
    if (r == 0)
        r = hone_task_select(w->task, w->lattice->target, err);
    if (r == 0)
        r = hone_c_parser_new(&w->parser, err);
    if (r == 0)
        r = hone_mkdirs(w->in->out_dir, 0755, err);
    if (r < 0)
        return r;
    w->lattice->family = w->task->op_type ? w->task->op_type : "";
    w->path =
        hone_pool_printf(w->pool, "%s/%s.%s.json", w->in->out_dir, kernel, w->lattice->target);
    take_old(w);
    if (w->in->note)
        w->lattice->note = w->in->note;
    return 0;
}

static int record(struct work *w, struct hone_err *err)
{
    time_t now = (time_t)(hone_wall_ms() / 1000);
    struct tm date;
    char text[16];
    gmtime_r(&now, &date);
    strftime(text, sizeof(text), "%Y-%m-%d", &date);
    w->lattice->date = text;
    int r = 0;
    for (int64_t round = 0; r == 0 && round < w->in->rounds; round++)
        r = run_round(w, round, err);
    for (unsigned s = 0; r == 0 && s < 1u << w->lattice->n_strategies; s++)
        if (w->lattice->states[s].is_legal)
            r = features_of(w, s, err);
    if (r == 0)
        r = hone_lattice_save(w->lattice, w->path, err);
    if (r == 0 && w->in->is_profiled)
        r = profile_all(w, err);
    return r < 0 ? r : hone_lattice_save(w->lattice, w->path, err);
}

int hone_lattice_record(struct hone_tool_ctx *ctx, const struct hone_lattice_recording *recording,
                        struct hone_err *err)
{
    struct work w = {.ctx = ctx, .in = recording, .pool = hone_pool_new()};
    if (recording->rounds < 1 || recording->rounds > HONE_LIMIT_LATTICE_REPEATS) {
        hone_pool_free(w.pool);
        return hone_fail_at(err, HONE_E_ARG, "rounds", "1 to %d rounds",
                            HONE_LIMIT_LATTICE_REPEATS);
    }
    int r = open_work(&w, err);
    if (r == 0)
        r = record(&w, err);
    hone_c_parser_free(w.parser);
    hone_task_free(w.task);
    hone_pool_free(w.pool);
    return r;
}
