/* SPDX-License-Identifier: Apache-2.0 */
/* kernel_tune: one sweep over settings, then one honest measurement of the winner.
 *
 * The sweep is one evaluation of the source with many points and is not committed: of hundreds of
 * screens the best is partly luck. Its winner is written into the source as the default, evaluated
 * on its own, and that becomes the commit. */
#include "tools/kernel.h"

#include <math.h>
#include <string.h>

#include "tools/best_measurement.h"
#include "tools/evaluate_text.h"
#include "tools/format/options.h"
#include "workspace/base/text.h"

static const struct hone_field in_fields[] = {
    HONE_KERNEL_IN_SOURCE,
    HONE_KERNEL_IN_WORKLOADS,
    HONE_KERNEL_IN_WORDS,
    HONE_IN_(options, .max_len = 32,
             .help = "Option sets to sweep too: [\"-O2\", \"-Ofast -funroll-loops\"]."),
    HONE_IN_(tier, .fallback_i64 = HONE_TIER_DECIDE, .choices = hone_tier_choices,
             .help = "Of the winner's evaluation."),
    HONE_IN_(budget_ms, .min = 0, .max = HONE_LIMIT_TIMEOUT_MS, .unit = "ms",
             .help = "For the sweep; 0: 300 ms a setting."),
};

static const struct hone_field out_fields[] = {
    HONE_KERNEL_OUT_BASE,
    HONE_KERNEL_OUT_TIMES,
    HONE_OUT_(kept, .help = "The setting that was kept."),
    HONE_OUT_(n_settings, .help = "Settings that were tried."),
    HONE_OUT_(points, HONE_OF(struct hone_point_report, hone_point_report_fields),
              .help = "The sweep, best first: short timings, good for ranking only; detail full."),
    HONE_OUT_(sweep, .help = "The same, a line a setting: ns, ratio [its 95 % interval]."),
};

/* `tunables` fixes those that it names; the others are swept. */
static int fix_axes(const struct hone_evaluation_request *req, struct hone_pool *pool,
                    const struct hone_array *axes, struct hone_err *err)
{
    struct hone_tune_axis *axis = (struct hone_tune_axis *)axes->v;
    const struct hone_tunable *fixed = req->tunables.v;

    for (size_t i = 0; i < req->tunables.n; i++) {
        size_t a = 0;
        while (a < axes->n && strcmp(axis[a].name, fixed[i].name) != 0)
            a++;
        if (a == axes->n)
            return hone_fail_at(err, HONE_E_ARG, "tunables",
                                "'%.60s' is no #pragma hone tune of the source: what is named here "
                                "keeps this value, the others are swept",
                                fixed[i].name);
        axis[a].values.v = hone_pool_alloc(pool, sizeof(*axis[a].values.v));
        axis[a].values.v[0] = fixed[i].value;
        axis[a].values.n = 1;
    }
    return 0;
}

/* Every legal combination of tunables with every set of options; the first is what the source is
 * now. */
static int make_points(struct hone_tool_ctx *ctx, const struct hone_kernel_in *in,
                       const struct hone_evaluation_request *req, struct hone_array *ret,
                       struct hone_err *err)
{
    struct hone_array axes, tunings;
    const struct hone_point *tuning;
    struct hone_point *points;
    const char *where;
    size_t n_sets = in->options.n > 0 ? in->options.n : 1, n = 0;
    int rc = hone_tune_parse(req->source, ctx->pool, &axes, &where, err);

    if (rc == 0 && in->tunables != NULL)
        rc = fix_axes(req, ctx->pool, &axes, err);
    if (rc == 0)
        rc = hone_tune_points(&axes, where, ctx->pool, &tunings, err);
    if (rc < 0)
        return rc;
    if (tunings.n * n_sets > HONE_LIMIT_TUNE_POINTS)
        return hone_fail_at(err, HONE_E_LIMIT, "options",
                            "%zu values times %zu option sets; at most %d settings in one sweep",
                            tunings.n, n_sets, HONE_LIMIT_TUNE_POINTS);
    if (tunings.n * n_sets < 2)
        return hone_fail_at(err, HONE_E_ARG, "source",
                            "offers nothing to sweep: add #pragma hone tune(TILE: 8, 16, 32), or "
                            "pass options");
    tuning = tunings.v;
    points = hone_pool_alloc(ctx->pool, tunings.n * n_sets * sizeof(*points));
    for (size_t s = 0; s < n_sets; s++) {
        struct hone_strs flags =
            in->options.n > 0 ? hone_flags_parse(in->options.v[s], ctx->pool) : req->flags;
        for (size_t t = 0; t < tunings.n; t++)
            points[n++] = (struct hone_point){.tunables = tuning[t].tunables, .flags = flags};
    }
    *ret = (struct hone_array){.v = points, .n = n};
    return 0;
}

static const char *setting_text(const struct hone_array *tunables, const struct hone_strs *flags,
                                struct hone_pool *pool)
{
    const char *t = hone_tunables_text(tunables, pool), *f = hone_flags_text(flags, pool);

    return hone_pool_printf(pool, "%s%s%s", t, t[0] != '\0' && f[0] != '\0' ? " " : "", f);
}

/* A line a setting, for an answer; what failed has its reason. */
static const char *sweep_text(const struct hone_array *points, struct hone_pool *pool)
{
    const struct hone_point_report *p = points->v;
    const char *text = "";

    for (size_t i = 0; i < points->n; i++) {
        const char *end = hone_reason_name(p[i].reason);
        if (p[i].reason == HONE_REASON_SCREENED && p[i].low > 0)
            end = hone_pool_printf(pool, "%.0f ns %.3gx [%.3g, %.3g]", p[i].median_ns, p[i].ratio,
                                   p[i].low, p[i].high);
        else if (p[i].reason == HONE_REASON_SCREENED)
            end = hone_pool_printf(pool, "%.0f ns", p[i].median_ns);
        else if (p[i].detail != NULL)
            end = hone_pool_printf(pool, "%s, %s", end, hone_plain_line(pool, p[i].detail, 80));
        text = hone_pool_printf(pool, "%s%s: %s\n", text,
                                setting_text(&p[i].tunables, &p[i].flags, pool), end);
    }
    return text;
}

/* How far the sweep's ratios can be believed, and how many settings they do not tell from the best;
 * "": no interval is known. */
static const char *doubt_text(const struct hone_array *points, struct hone_pool *pool)
{
    const struct hone_point_report *p = points->v;
    double sum = 0;
    size_t n = 0, n_alike = 0;

    for (size_t i = 0; i < points->n; i++) {
        if (!(p[i].low > 0 && p[i].high >= p[i].low))
            continue;
        sum += log(p[i].high / p[i].low) / 2;
        n++;
        n_alike += i > 0 && p[i].high >= p[0].low;
    }
    if (n == 0)
        return "";
    return hone_pool_printf(pool,
                            "the sweep's ratios are good to %.2g %%: %zu others may be as fast; ",
                            100 * (exp(sum / (double)n) - 1), n_alike);
}

static const char *table_text(const struct hone_array *points, struct hone_pool *pool)
{
    const struct hone_point_report *p = points->v;
    const char *text = "";

    for (size_t i = 0; i < points->n && i < 12; i++)
        text = hone_pool_printf(pool, "%s%10.0f ns  %s%s%s\n", text, p[i].median_ns,
                                setting_text(&p[i].tunables, &p[i].flags, pool),
                                p[i].reason != HONE_REASON_SCREENED ? "  " : "",
                                p[i].reason != HONE_REASON_SCREENED ? hone_reason_name(p[i].reason)
                                                                    : "");
    return text;
}

/* A source that is wrong as it stands is not swept: settings of it would have figures. */
static int check_default(struct hone_tool_ctx *ctx, const struct hone_evaluation_request *req,
                         struct hone_evaluation *ret, bool *ret_is_wrong, struct hone_err *err)
{
    struct hone_evaluation_request check = *req;

    check.stages = "build,smoke";
    check.time_parent = false;
    check.no_commit = true;
    int rc = hone_evaluate(ctx, &check, ret, err);
    *ret_is_wrong = rc == 0 && hone_is_refutation(ret->report.verdict, ret->report.reason);
    return rc;
}

/* The winner's own evaluation: its values first in the pragma, its options, the sweep's table in
 * the body. */
static int evaluate_winner(struct hone_tool_ctx *ctx, const struct hone_kernel_in *in,
                           const struct hone_evaluation_request *base,
                           const struct hone_evaluation *sweep, const struct hone_array *table,
                           struct hone_evaluation *ret, struct hone_err *err)
{
    const struct hone_point_report *best =
        (const struct hone_point_report *)sweep->report.points.v + sweep->report.best_point;
    struct hone_trailer *trailers =
        hone_pool_alloc(ctx->pool, (base->trailers.n + 1) * sizeof(*trailers));
    struct hone_evaluation_request req = *base;
    int rc = hone_tune_set_default(base->source, &best->tunables, ctx->pool, &req.source, err);

    if (rc < 0)
        return rc;
    if (base->trailers.n > 0)
        memcpy(trailers, base->trailers.v, base->trailers.n * sizeof(*trailers));
    trailers[base->trailers.n] = (struct hone_trailer){.key = "Sweep", .value = sweep->id};
    req.trailers = (struct hone_array){.v = trailers, .n = base->trailers.n + 1};
    req.flags = best->flags;
    req.tunables = (struct hone_array){.n = 0};
    req.tier = in->tier;
    req.budget_ms = 0;
    req.must_beat_parent = true;
    if (req.subject == NULL)
        req.subject = hone_pool_printf(ctx->pool, "tune: keep %s",
                                       setting_text(&best->tunables, &best->flags, ctx->pool));
    req.body = hone_pool_printf(
        ctx->pool, "%s%sSweep of %zu settings (short timings, for ranking only):\n%s",
        base->body != NULL ? base->body : "", base->body != NULL ? "\n\n" : "",
        sweep->report.points.n, table_text(table, ctx->pool));
    return hone_evaluate(ctx, &req, ret, err);
}

static int sweep_points(struct hone_tool_ctx *ctx, const struct hone_kernel_in *in,
                        const struct hone_evaluation_request *base, struct hone_evaluation *ret,
                        bool *ret_is_wrong, struct hone_err *err)
{
    struct hone_evaluation_request req = *base;
    int rc = make_points(ctx, in, base, &req.points, err);

    if (rc == 0)
        rc = check_default(ctx, base, ret, ret_is_wrong, err);
    if (rc < 0 || *ret_is_wrong)
        return rc;
    hone_tool_progress(ctx, 0, (double)req.points.n, "sweeping %zu settings", req.points.n);
    req.tier = HONE_TIER_SCREEN;
    req.no_commit = true;
    req.time_parent = false;
    return hone_evaluate(ctx, &req, ret, err);
}

/* Word for the parent's machine code, from the report in its commit; NULL: not known. */
static const char *parents_code(struct hone_tool_ctx *ctx, const char *parent)
{
    struct hone_history *history = hone_workspace_history(ctx->app->ws);
    char commit[HONE_COMMIT_BYTES];
    struct hone_version version;
    struct hone_report report;

    if (parent == NULL || hone_history_resolve(history, parent, commit, NULL) < 0 ||
        hone_history_read(history, commit, ctx->pool, &version, NULL) < 0 ||
        version.report_json == NULL ||
        hone_report_parse(version.report_json, strlen(version.report_json), ctx->pool, &report,
                          NULL) < 0)
        return NULL;
    return report.build != NULL ? report.build->code : NULL;
}

/* The winner is the parent again: a version of its own would measure it against itself. */
static bool is_parent_again(struct hone_tool_ctx *ctx, const struct hone_evaluation_request *base,
                            const struct hone_point_report *best)
{
    const char *code = best->code != NULL ? parents_code(ctx, base->parent) : NULL;

    return code != NULL && strcmp(code, best->code) == 0;
}

static void say_no_gain(struct hone_tool_ctx *ctx, const char *parent, size_t n_settings,
                        struct hone_kernel_out *out)
{
    out->head.summary = hone_pool_printf(
        ctx->pool,
        "no gain: the parent's setting won (%s of %zu settings makes the machine code of %.12s); "
        "no commit was made and nothing was confirmed",
        out->kept, n_settings, parent);
    out->head.next = "go on from the parent; another step, not this sweep.";
}

/* What the winner's own evaluation found; without a commit it did not beat the parent. */
static void say_kept(struct hone_tool_ctx *ctx, const struct hone_array *table,
                     struct hone_kernel_out *out)
{
    size_t n_settings = table->n;

    if (out->head.commit != NULL || !hone_lost_to_parent(out->vs_parent)) {
        out->head.summary =
            hone_pool_printf(ctx->pool, "kept %s of %zu settings; %s%s", out->kept, n_settings,
                             doubt_text(table, ctx->pool), out->head.summary);
        return;
    }
    out->head.summary = hone_pool_printf(
        ctx->pool,
        "no gain: the parent won: %s, best of %zu settings in short timings, is %s times as fast; "
        "no commit was made; %s",
        out->kept, n_settings, hone_ratio_text(out->vs_parent, ctx->pool), out->head.summary);
    out->head.next = "go on from the parent; another step, not this sweep.";
}

static int run(struct hone_tool_ctx *ctx, const void *arguments, void *result, struct hone_err *err)
{
    HONE_CLEANUP(hone_kernel_call_done) struct hone_kernel_call call = {.task = NULL};
    const struct hone_kernel_in *in = arguments;
    struct hone_evaluation sweep, winner;
    struct hone_kernel_out *out = result;
    struct hone_array table;
    const struct hone_point_report *points;
    bool is_wrong = false;
    int rc = hone_kernel_call_init(ctx, in, &call, err);

    if (rc == 0)
        rc = hone_kernel_need_source(&call, err);
    if (rc == 0)
        rc = sweep_points(ctx, in, &call.request, &sweep, &is_wrong, err);
    if (rc < 0)
        return rc;
    table = hone_points_by_time(&sweep.report.points, ctx->pool);
    points = sweep.report.points.v;
    points += hone_max_i64(sweep.report.best_point, 0);
    if (is_wrong ||
        sweep.report.best_point < 0) { /* no setting worked: the sweep's report says why */
        hone_kernel_fill(ctx, &sweep, out);
    } else if (is_parent_again(ctx, &call.request, points)) {
        hone_kernel_fill(ctx, &sweep, out);
        out->kept = setting_text(&points->tunables, &points->flags, ctx->pool);
        say_no_gain(ctx, call.request.parent, table.n, out);
    } else {
        rc = evaluate_winner(ctx, in, &call.request, &sweep, &table, &winner, err);
        if (rc < 0)
            return rc;
        hone_kernel_fill(ctx, &winner, out);
        out->kept = setting_text(&points->tunables, &points->flags, ctx->pool);
        say_kept(ctx, &table, out);
    }
    bool is_full = strcmp(in->detail, "full") == 0;
    out->points = is_full ? table : (struct hone_array){.n = 0};
    if (!is_full)
        out->sweep = sweep_text(&table, ctx->pool);
    out->n_settings = (int64_t)table.n;
    out->task = hone_pool_strdup(ctx->pool, call.task->name);
    hone_kernel_fit(ctx, out_fields, HONE_COUNTOF(out_fields), in->detail, out);
    return 0;
}

const struct hone_tool hone_tool_kernel_tune = {
    .name = "kernel_tune",
    .title = "Tune a kernel",
    .summary = "Sweep a source's tunables and compiler options; keep the best as a version.",
    .description =
        "Tries every combination of the source's `#pragma hone tune(NAME: 8, 16, 32)` values "
        "(the first is the default) and of option sets, screens each, "
        "evaluates the winner, commits it unless parent is as fast. 0.3 s a setting plus "
        "one evaluation. tunables fixes values. The source must be correct already.",
    .flags = HONE_TOOL_NEEDS_DEVICE | HONE_TOOL_IDEMPOTENT | HONE_TOOL_LONG,
    HONE_TOOL_TABLES(struct hone_kernel_in, struct hone_kernel_out),
    .run = run,
};
