/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments in, result out, for all kernel_* tools.
 *
 * A result is first filled with everything the report has, then fitted: `detail` decides what kind
 * of part is shown at all, and while the encoded text is still over the budget the bulkiest kinds
 * are halved, logs by cutting out their middle. What was left out is named in `dropped`; the whole
 * report stays at its content hash. */
#include "tools/kernel.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/best_known.h"
#include "tools/evaluate_text.h"
#include "workspace/base/text.h"
#include "tools/format/next_text.h"
#include "tools/rests_text.h"
#include "workspace/base/log.h"

const char *const hone_detail_choices[] = {"concise", "normal", "full", NULL};
const char hone_tunables_schema[] =
    "{\"type\":\"object\",\"additionalProperties\":{\"type\":\"integer\"}}";

#define MAX_EARLIER 6    /* confirmations in a result */
#define LITTLE_LOAD 0.02 /* of the cores */
#define VAGUE       4    /* high by low: no figure for one workload */

#define ROW(m_, ...) HONE_FIELD(struct hone_workload_row, m_, .skip_empty = true, __VA_ARGS__)
const struct hone_field hone_workload_row_fields[HONE_WORKLOAD_ROW_N_FIELDS] = {
    ROW(id, .required = true, .help = "Workload id."),
    ROW(axes, .json_schema = "{\"type\":\"object\"}", .help = "Value of every axis."),
    ROW(is_hidden, .help = "Drawn for this confirmation."),
    ROW(candidate_ns, .unit = "ns", .help = "One call, median."),
    ROW(baseline_ns, .unit = "ns", .help = "One call of the baseline, median."),
    ROW(ratio, .help = "Against the baseline; left out where the interval's ends are four times "
                       "apart or more."),
    ROW(low, .help = "95 % interval, lower end."),
    ROW(high, .help = "95 % interval, upper end."),
    ROW(vs_parent, .help = "Against the parent version."),
    ROW(percent_of_bound, .unit = "%", .help = "Of what the machine allows; at most 100."),
    ROW(bound_by, .help = "bytes or flops."),
};

static const struct {
    const char *detail;
    size_t budget;
} budgets[] = {{"concise", 1000}, {"normal", 4000}, {"full", 60000}};

size_t hone_detail_budget(const char *detail)
{
    for (size_t i = 0; detail != NULL && i < HONE_COUNTOF(budgets); i++)
        if (strcmp(budgets[i].detail, detail) == 0)
            return budgets[i].budget;
    return budgets[1].budget;
}

size_t hone_result_bytes(const void *out, const struct hone_field *fields, size_t n_fields)
{
    HONE_AUTOJSON struct hone_json *json = hone_fields_encode(out, fields, n_fields);
    HONE_AUTOFREE char *text = hone_json_print(json);

    return strlen(text);
}

/* ---- arguments ---- */

static int decode_tunables(const struct hone_json *json, struct hone_pool *pool,
                           struct hone_array *ret, struct hone_err *err)
{
    size_t n = json != NULL ? hone_json_size(json) : 0;
    struct hone_tunable *t = hone_pool_alloc(pool, (n + 1) * sizeof(*t));

    if (json != NULL && hone_json_type(json) != HONE_JSON_OBJECT)
        return hone_fail_at(err, HONE_E_ARG, "tunables", "must be an object like {\"TILE\": 16}");
    if (n > HONE_LIMIT_TUNABLES)
        return hone_fail_at(err, HONE_E_LIMIT, "tunables", "%zu values, at most %d", n,
                            HONE_LIMIT_TUNABLES);
    n = 0;
    for (const struct hone_json *c = hone_json_first(json); c != NULL; c = hone_json_next(c)) {
        t[n].name = hone_pool_strdup(pool, hone_json_key(c));
        if (!hone_json_as_i64(c, &t[n++].value))
            return hone_fail_at(err, HONE_E_ARG, "tunables", "'%.60s' must be an integer",
                                hone_json_key(c));
    }
    *ret = (struct hone_array){.v = t, .n = n};
    return 0;
}

/* The version's source, with the options and values it was tried with unless the call gives others.
 */
static int take_version(struct hone_tool_ctx *ctx, const char *rev, const struct hone_task *task,
                        struct hone_evaluation_request *req, struct hone_err *err)
{
    struct hone_history *history = hone_workspace_history(ctx->app->ws);
    struct hone_version version;
    char commit[HONE_COMMIT_BYTES];
    const char *text;
    int rc = hone_history_resolve(history, rev, commit, err);

    if (rc == 0)
        rc = hone_history_read(history, commit, ctx->pool, &version, err);
    if (rc < 0)
        return hone_wrap(err, "commit '%.64s'", hone_plain_line(ctx->pool, rev, 64));
    if (version.task != NULL && strcmp(version.task, task->name) != 0)
        return hone_fail_at(err, HONE_E_ARG, "commit", "is a version of task '%.64s', not of '%s'",
                            version.task, task->name);
    req->source = version.source;
    if (req->flags.n == 0)
        req->flags = hone_flags_parse(hone_trailer_get(&version, "Flags"), ctx->pool);
    text = hone_trailer_get(&version, "Tunables");
    if (req->tunables.n == 0 && text != NULL)
        rc = hone_tunables_parse(text, ctx->pool, &req->tunables, err);
    if (req->parent == NULL)
        req->parent = version.parent != NULL && hone_history_has(history, version.parent)
                          ? version.parent
                          : NULL;
    return rc;
}

static bool is_baseline(const char *rev)
{
    return rev != NULL && strcmp(rev, "baseline") == 0;
}

static int take_baseline(struct hone_tool_ctx *ctx, const struct hone_task *task,
                         struct hone_evaluation_request *req, struct hone_err *err)
{
    HONE_AUTOFREE char *naive = NULL;
    int rc = hone_task_naive(task, req->target, &naive, err);

    req->source = rc == 0 ? hone_pool_strdup(ctx->pool, naive) : NULL;
    return rc;
}

static void take_words(struct hone_tool_ctx *ctx, const struct hone_kernel_in *in,
                       struct hone_evaluation_request *req)
{
    struct hone_trailer *trailers = hone_pool_alloc(ctx->pool, 2 * sizeof(*trailers));
    size_t n = 0;

    if (in->strategy != NULL)
        trailers[n++] = (struct hone_trailer){.key = "Strategy", .value = in->strategy};
    if (ctx->caller != NULL)
        trailers[n++] = (struct hone_trailer){.key = "Caller", .value = ctx->caller};
    req->trailers = (struct hone_array){.v = trailers, .n = n};
    req->subject = in->message;
    req->body = in->why;
}

/* What is found at one size is no evidence about the version: nothing is kept. */
static int take_axes(const struct hone_kernel_in *in, const struct hone_task *task,
                     struct hone_evaluation_request *req, struct hone_err *err)
{
    struct hone_workload workload;

    if (in->workloads.n > 0 || in->workload != NULL)
        return hone_fail_at(err, HONE_E_ARG, "axes", "is a size of its own: give no workload");
    req->axes = in->axes;
    req->no_cache = req->no_commit = true;
    return hone_task_asked(task, in->axes, &workload, err);
}

int hone_kernel_call_init(struct hone_tool_ctx *ctx, const struct hone_kernel_in *in,
                          struct hone_kernel_call *ret, struct hone_err *err)
{
    HONE_CLEANUP(hone_task_free_ptr) struct hone_task *task = NULL;
    struct hone_evaluation_request req = {
        .source = in->source,
        .flags = in->flags,
        .tier = in->tier != HONE_TIER_NONE ? in->tier : HONE_TIER_SCREEN,
        .parent = in->parent,
        .time_parent = in->parent != NULL && !is_baseline(in->parent),
        .workloads = in->workloads,
        .budget_ms = in->budget_ms,
        .timeout_ms = in->timeout_ms,
        .call_timeout_ms = in->call_timeout_ms,
        .n_threads = in->n_threads,
        .no_cache = in->fresh,
    };
    int rc;

    if (in->assembly != NULL && strcmp(in->assembly, "none") != 0)
        req.assembly = in->assembly;
    req.assembly_kernel = in->kernel;
    if (in->kernel != NULL && req.assembly == NULL)
        return hone_fail_at(err, HONE_E_ARG, "kernel",
                            "names the kernel whose text is shown: say which with assembly");
    if (in->source != NULL && in->commit != NULL)
        return hone_fail_at(err, HONE_E_ARG, "commit", "give either source or commit, not both");
    rc = hone_workspace_task(ctx->app->ws, in->task, &task, err);
    if (rc == 0)
        req.target = hone_task_target_of(task, in->target);
    if (rc == 0 && !hone_assembly_is_of(req.assembly, req.target))
        return hone_fail_at(err, HONE_E_ARG, "assembly",
                            "target cpu has asm, target cuda has sass and ptx");
    if (rc == 0)
        rc = hone_task_select(task, req.target, err);
    if (rc == 0)
        rc = decode_tunables(in->tunables, ctx->pool, &req.tunables, err);
    if (rc == 0 && in->axes != NULL)
        rc = take_axes(in, task, &req, err);
    if (rc == 0 && in->commit != NULL)
        rc = is_baseline(in->commit) ? take_baseline(ctx, task, &req, err)
                                     : take_version(ctx, in->commit, task, &req, err);
    if (rc < 0)
        return rc;
    if (is_baseline(in->parent)) /* it is timed beside every candidate; no version stands for it */
        req.parent = NULL;
    take_words(ctx, in, &req);
    ret->task = HONE_STEAL(task);
    req.task = ret->task;
    ret->request = req;
    return 0;
}

void hone_kernel_call_done(struct hone_kernel_call *call)
{
    hone_task_free_ptr(&call->task);
}

int hone_kernel_need_source(const struct hone_kernel_call *call, struct hone_err *err)
{
    if (call->request.source != NULL)
        return 0;
    return hone_fail_at(
        err, HONE_E_ARG, "source",
        "is missing: pass the kernel's whole text as source, or a version as commit; "
        "task_show %s prints the signature",
        call->task->name);
}

/* ---- result ---- */

static double positive(double value)
{
    return value > 0 ? value : (double)NAN;
}

static struct hone_ratio *ratio_of(const struct hone_report *report, const char *against,
                                   struct hone_pool *pool)
{
    const struct hone_ratio *ratio = hone_report_ratio(report, against);
    struct hone_ratio *copy;

    if (ratio == NULL || !(ratio->ratio > 0))
        return NULL;
    copy = hone_pool_alloc(pool, sizeof(*copy));
    *copy = *ratio;
    copy->note = hone_ratio_note(ratio, pool);
    return copy;
}

/* Figures of a result are rounded in place: it has its own. */
static void *copy_of(struct hone_pool *pool, const void *from, size_t size)
{
    return from != NULL ? memcpy(hone_pool_alloc(pool, size), from, size) : NULL;
}

static void keep_latest(struct hone_confirmations_report *confirmations)
{
    struct hone_array *earlier = confirmations != NULL ? &confirmations->earlier : NULL;

    if (earlier == NULL || earlier->n <= MAX_EARLIER)
        return;
    earlier->v = (struct hone_earlier *)earlier->v + (earlier->n - MAX_EARLIER);
    earlier->n = MAX_EARLIER;
}

double hone_shown_ratio(const struct hone_ratio *ratio)
{
    return ratio->low > 0 && ratio->high < VAGUE * ratio->low ? ratio->ratio : (double)NAN;
}

static void fill_workload(const struct hone_workload_report *from, struct hone_workload_row *ret)
{
    const struct hone_ratio *ratios = from->ratios.v;

    *ret = (struct hone_workload_row){.id = from->id,
                                      .axes = from->axes,
                                      .is_hidden = from->is_hidden,
                                      .bound_by = from->bound_by,
                                      .percent_of_bound =
                                          positive(hone_shown_percent(from->percent_of_bound))};
    ret->vs_parent = NAN;
    ret->ratio = ret->low = ret->high = NAN;
    ret->candidate_ns = hone_workload_time_ns(from, "candidate");
    ret->baseline_ns = hone_workload_time_ns(from, "baseline");
    for (size_t i = 0; i < from->ratios.n; i++) {
        if (strcmp(ratios[i].against, "parent") == 0)
            ret->vs_parent = hone_shown_ratio(&ratios[i]);
        if (strcmp(ratios[i].against, "baseline") != 0)
            continue;
        ret->ratio = hone_shown_ratio(&ratios[i]);
        ret->low = ratios[i].low;
        ret->high = ratios[i].high;
    }
}

static void fill_workloads(const struct hone_report *report, struct hone_pool *pool,
                           struct hone_array *ret)
{
    const struct hone_workload_report *from = report->workloads.v;
    struct hone_workload_row *rows =
        hone_pool_alloc(pool, (report->workloads.n + 1) * sizeof(*rows));

    for (size_t i = 0; i < report->workloads.n; i++)
        fill_workload(&from[i], &rows[i]);
    *ret = (struct hone_array){.v = rows, .n = report->workloads.n};
}

/* "normal, zeros, equal": each once, in the order of the checks. */
static const char *contents_of(const struct hone_report *report, struct hone_pool *pool)
{
    const struct hone_check_report *checks = report->checks.v;
    const char *text = NULL;

    for (size_t i = 0; i < report->checks.n; i++) {
        const char *kind = checks[i].distribution;
        bool is_new = kind != NULL && kind[0] != '\0';
        for (size_t k = 0; k < i && is_new; k++)
            is_new = checks[k].distribution == NULL || strcmp(checks[k].distribution, kind) != 0;
        if (is_new)
            text = text != NULL ? hone_pool_printf(pool, "%s, %s", text, kind) : kind;
    }
    return text != NULL ? hone_plain_line(pool, text, 800) : NULL;
}

/* Failed checks first: the reader's budget is spent on what is wrong. */
static void fill_checks(const struct hone_report *report, struct hone_pool *pool,
                        struct hone_kernel_out *out)
{
    const struct hone_check_report *from = report->checks.v;
    struct hone_check_report *checks =
        hone_pool_alloc(pool, (report->checks.n + 1) * sizeof(*checks));
    size_t n = 0;

    for (int is_bad = 1; is_bad >= 0; is_bad--) {
        for (size_t i = 0; i < report->checks.n; i++)
            if ((from[i].n_bad > 0) == (is_bad != 0))
                checks[n++] = from[i];
        if (is_bad == 1)
            out->n_failed_checks = (int64_t)n;
    }
    out->n_passed_checks = (int64_t)n - out->n_failed_checks;
    out->checks = (struct hone_array){.v = checks, .n = n};
    out->contents = contents_of(report, pool);
}

static void fill_build(const struct hone_build_report *build, struct hone_kernel_out *out)
{
    if (build == NULL)
        return;
    out->compiler = build->compiler;
    out->command = build->command;
    out->object_bytes = build->object_bytes;
    out->build_ms = (double)build->wall_ns / 1e6;
    out->diagnostics = build->diagnostics;
    out->log = build->log;
    out->kernels = build->kernels;
    out->plans = build->plans;
    out->lane = build->lane;
    out->lane_note = build->lane_note;
    out->assembly = build->assembly;
    out->assembly_of = build->assembly_of;
    out->assembly_note = build->assembly_note;
}

static void free_json(void *json)
{
    hone_json_free(json);
}

struct hone_load_report *hone_shown_load(const struct hone_report *report, struct hone_pool *pool)
{
    const struct hone_load_report *load = report->load;

    return load != NULL && load->others > LITTLE_LOAD * (double)load->n_cores
               ? copy_of(pool, load, sizeof(*load))
               : NULL;
}

/* A confirmation says whether its figure may be claimed, others say nothing of it. */
static struct hone_json *claimable_of(const struct hone_report *report, struct hone_pool *pool)
{
    if (report->tier != HONE_TIER_CONFIRM)
        return NULL;
    struct hone_json *json = hone_json_new_bool(hone_report_is_claimable(report));
    hone_pool_defer(pool, free_json, json);
    return json;
}

const char *hone_kernel_refuted(const struct hone_evaluation *evaluation, const char *summary,
                                struct hone_pool *pool)
{
    const char *wrong = evaluation->refutation;

    return wrong != NULL && strstr(summary, wrong) == NULL
               ? hone_pool_printf(pool, "%s; %s", wrong, summary)
               : summary;
}

void hone_kernel_fill(struct hone_tool_ctx *ctx, const struct hone_evaluation *evaluation,
                      struct hone_kernel_out *out)
{
    const struct hone_report *report = &evaluation->report;
    const struct hone_profile_report *profile = report->profile;

    out->head.status = "ok";
    out->head.verdict = hone_verdict_name(report->verdict);
    out->head.reason = hone_reason_name(report->reason);
    out->head.error_class = hone_reason_row(report->reason)->error_class;
    out->head.summary =
        hone_kernel_refuted(evaluation, hone_evaluation_summary(report, ctx->pool), ctx->pool);
    out->head.next = hone_next_text(report, ctx->pool);
    out->head.commit = evaluation->commit;
    out->head.evaluation = evaluation->id;
    out->target = report->target;
    out->tier = report->tier;
    out->jail = report->jail;
    out->device = report->machine != NULL ? report->machine->cpu : NULL;
    out->is_cached = evaluation->is_cached;
    out->speedup = ratio_of(report, "baseline", ctx->pool);
    out->vs_parent = ratio_of(report, "parent", ctx->pool);
    out->vs_fast_math = ratio_of(report, HONE_ARM_FAST_MATH, ctx->pool);
    out->yardsticks = hone_report_yardsticks(report, ctx->pool);
    out->confirmations = copy_of(ctx->pool, report->confirmations, sizeof(*report->confirmations));
    keep_latest(out->confirmations);
    out->load = hone_shown_load(report, ctx->pool);
    out->time_ns = hone_report_time_ns(report, "candidate");
    out->baseline_ns = hone_report_time_ns(report, "baseline");
    out->worst_ratio = positive(report->worst_ratio);
    out->percent_of_bound = positive(hone_shown_percent(report->percent_of_bound));
    out->claimable = claimable_of(report, ctx->pool);
    out->rests_on = hone_rests_text(report, ctx->pool);
    out->rests_short = hone_rests_short(report, ctx->pool);
    out->beyond_bound = hone_beyond_bound(report, ctx->pool);
    out->best_known = hone_best_known(hone_workspace_history(ctx->app->ws), evaluation->commit,
                                      report, ctx->pool);
    fill_workloads(report, ctx->pool, &out->workloads);
    fill_checks(report, ctx->pool, out);
    fill_build(report->build, out);
    out->stages = report->stages;
    out->points = report->points;
    out->output = report->output;
    out->warnings = report->warnings;
    out->doubts = report->doubts;
    out->sizes = report->sizes;
    out->review = report->review;
    out->report = evaluation->blob;
    if (profile != NULL) {
        out->bottlenecks = profile->bottlenecks;
        out->counters = profile->counters;
        out->remarks = profile->remarks;
        out->counters_note = profile->counters_note;
    }
}

/* ---- fitting ---- */

/* How much of each kind a detail shows at most. */
struct share {
    size_t diagnostics, checks, workloads, bottlenecks, counters, remarks, points, stages, warnings,
        kernels, plans, review;
    size_t log, output, patch, assembly, sweep; /* bytes */
    bool has_context,
        has_passed; /* source lines of diagnostics; checks that passed, and the command */
};

static const struct share shares[] = {
    {1, 1, 0, 1, 0, 0, 1, 0, 0, 6, 0, 1, 0, 200, 300, 300, 150, false, false},
    {5, 6, 16, 3, 36, 8, 10, 8, 4, 8, 8, 4, 1500, 3000, 4000, 5000, 1800, true, false},
    {20, 200, 128, 16, 256, 200, 256, HONE_LIMIT_STAGE_ROWS, 64, 64, 64, HONE_LIMIT_REVIEW_ROWS,
     20000, 20000, 30000, HONE_LIMIT_ASSEMBLY_BYTES, 20000, true, true},
};

struct count {
    const char *what;
    size_t n;
};

enum {
    KIND_DIAGNOSTICS,
    KIND_CHECKS,
    KIND_WORKLOADS,
    KIND_BOTTLENECKS,
    KIND_COUNTERS,
    KIND_REMARKS,
    KIND_POINTS,
    KIND_KERNELS,
    KIND_REVIEW,
    N_KINDS
};

static struct hone_array *kind(struct hone_kernel_out *out, int i)
{
    struct hone_array *const arrays[N_KINDS] = {
        [KIND_DIAGNOSTICS] = &out->diagnostics, [KIND_CHECKS] = &out->checks,
        [KIND_WORKLOADS] = &out->workloads,     [KIND_BOTTLENECKS] = &out->bottlenecks,
        [KIND_COUNTERS] = &out->counters,       [KIND_REMARKS] = &out->remarks,
        [KIND_POINTS] = &out->points,           [KIND_KERNELS] = &out->kernels,
        [KIND_REVIEW] = &out->review,
    };

    return arrays[i];
}

static const char *const kind_names[N_KINDS] = {"diagnostics", "checks",   "workloads",
                                                "bottlenecks", "counters", "remarks",
                                                "settings",    "kernels",  "review"};

/* The counts stay. */
static void drop_box(struct hone_kernel_out *out, struct hone_pool *pool)
{
    struct hone_sizes_report *sizes;

    if (out->sizes == NULL)
        return;
    sizes = hone_pool_alloc(pool, sizeof(*sizes));
    *sizes = *out->sizes;
    sizes->box.n = 0;
    out->sizes = sizes;
}

static void drop_contexts(struct hone_kernel_out *out, struct hone_pool *pool)
{
    size_t size = out->diagnostics.n * sizeof(struct hone_diagnostic);
    struct hone_diagnostic *d;

    if (size == 0)
        return;
    d = hone_pool_alloc(pool, size);
    memcpy(d, out->diagnostics.v, size);
    for (size_t i = 0; i < out->diagnostics.n; i++) {
        d[i].context = NULL;
        d[i].message = hone_plain_line(pool, d[i].message, 200);
    }
    out->diagnostics.v = d;
}

/* Rows that split a stage ("time.check") are for those who asked for everything. */
static void keep_whole_stages(struct hone_kernel_out *out, struct hone_pool *pool)
{
    const struct hone_stage_report *all = out->stages.v;
    struct hone_stage_report *kept = hone_pool_alloc(pool, (out->stages.n + 1) * sizeof *kept);
    size_t n = 0;
    for (size_t i = 0; i < out->stages.n; i++)
        if (strchr(all[i].name, '.') == NULL)
            kept[n++] = all[i];
    out->stages = (struct hone_array){.v = kept, .n = n};
}

static void apply_share(const struct share *share, struct hone_pool *pool,
                        struct hone_kernel_out *out)
{
    const size_t rows[N_KINDS] = {
        [KIND_DIAGNOSTICS] = share->diagnostics, [KIND_CHECKS] = share->checks,
        [KIND_WORKLOADS] = share->workloads,     [KIND_BOTTLENECKS] = share->bottlenecks,
        [KIND_COUNTERS] = share->counters,       [KIND_REMARKS] = share->remarks,
        [KIND_POINTS] = share->points,           [KIND_KERNELS] = share->kernels,
        [KIND_REVIEW] = share->review,
    };

    for (int i = 0; i < N_KINDS; i++)
        if (kind(out, i)->n > rows[i])
            kind(out, i)->n = rows[i];
    if (!share->has_context)
        out->contents = NULL;
    if (share->stages < HONE_LIMIT_STAGE_ROWS)
        keep_whole_stages(out, pool);
    if (out->stages.n > share->stages)
        out->stages.n = share->stages;
    if (out->plans.n > share->plans)
        out->plans.n = share->plans;
    if (out->warnings.n > share->warnings)
        out->warnings.n = share->warnings;
    out->log = share->log > 0 ? hone_plain_cut(pool, out->log, share->log) : NULL;
    out->output = hone_plain_cut(pool, out->output, share->output);
    out->patch = hone_plain_cut(pool, out->patch, share->patch);
    out->assembly = hone_plain_lines(pool, out->assembly, share->assembly);
    out->sweep = hone_plain_lines(pool, out->sweep, share->sweep);
    if (!share->has_context) {
        drop_contexts(out, pool);
        drop_box(out, pool);
        out->compiler = out->counters_note = out->jail = out->device = out->target = NULL;
        out->build_ms = 0;
        out->rests_on = out->rests_short; /* its last part is the load */
        out->load = NULL;
        if (out->confirmations != NULL)
            out->confirmations->earlier.n = 0;
    }
    if (!share->has_passed) {
        out->command = NULL;
        out->checks.n = out->checks.n > (size_t)out->n_failed_checks ? (size_t)out->n_failed_checks
                                                                     : out->checks.n;
    }
}

static struct share halved(struct share share)
{
    share.diagnostics = share.diagnostics > 1 ? share.diagnostics / 2 : 1;
    share.checks = share.checks > 1 ? share.checks / 2 : 1;
    share.bottlenecks = share.bottlenecks > 1 ? share.bottlenecks / 2 : 1;
    share.workloads = share.kernels > 0 ? share.workloads : share.workloads / 2; /* they go last */
    share.counters /= 2;
    share.remarks /= 2;
    share.points = share.points > 1 ? share.points / 2 : 1;
    share.warnings /= 2;
    share.kernels /= 4;
    share.plans /= 4;
    share.review = share.review > 1 ? share.review / 2 : 1;
    share.log = share.log > 200 ? share.log / 2 : 0;
    share.output = share.output > 200 ? share.output / 2 : share.output;
    share.assembly = share.assembly > 200 ? share.assembly / 4 * 3 : share.assembly;
    share.sweep = share.sweep > 200 ? share.sweep / 4 * 3 : share.sweep;
    share.patch = share.patch > 200 ? share.patch / 2 : share.patch;
    share.has_context = share.has_context && share.diagnostics > 2;
    return share;
}

static const char *dropped_text(const struct hone_kernel_out *all, struct hone_kernel_out *shown,
                                struct hone_pool *pool)
{
    const char *text = NULL;

    for (int i = 0; i < N_KINDS; i++) {
        struct hone_kernel_out copy = *all;
        size_t n = kind(&copy, i)->n - kind(shown, i)->n;
        if (i == KIND_CHECKS) /* passed ones are counted elsewhere */
            n = hone_max_i64((int64_t)all->n_failed_checks - (int64_t)shown->checks.n, 0) > 0
                    ? (size_t)all->n_failed_checks - shown->checks.n
                    : 0;
        if (n > 0)
            text = hone_pool_printf(pool, "%s%s%zu %s", text != NULL ? text : "",
                                    text != NULL ? ", " : "", n, kind_names[i]);
    }
    if (all->log != NULL && shown->log == NULL)
        text = hone_pool_printf(pool, "%s%sthe log", text != NULL ? text : "",
                                text != NULL ? ", " : "");
    return text;
}

/* The first failed check alone, with its size and its element; its counts are in the summary. */
static struct hone_array first_failure(const struct hone_array *checks, struct hone_pool *pool)
{
    const struct hone_check_report *first = checks->v;
    struct hone_check_report *check = hone_pool_alloc(pool, sizeof(*check));

    if (checks->n == 0)
        return (struct hone_array){.n = 0};
    *check = (struct hone_check_report){.name = first->name,
                                        .workload = hone_plain_line(pool, first->workload, 80),
                                        .max_abs_err = NAN,
                                        .max_rel_err = NAN,
                                        .rel_l2 = NAN,
                                        .detail = hone_plain_line(pool, first->detail, 300)};
    return (struct hone_array){.v = check, .n = 1};
}

/* The last resort: the head, its words shortened, and what must be reported with a figure or mended
 * in a wrong answer. */
static void keep_head(struct hone_pool *pool, struct hone_kernel_out *out)
{
    struct hone_kernel_out bare = {.head = out->head,
                                   .report = out->report,
                                   .tier = out->tier,
                                   .claimable = out->claimable,
                                   .rests_on = out->rests_short};

    bare.head.summary = hone_plain_line(pool, out->head.summary, 300);
    bare.head.next = hone_plain_line(pool, out->head.next, 260);
    bare.time_ns = out->time_ns;
    bare.baseline_ns = bare.worst_ratio = NAN;
    bare.percent_of_bound = out->percent_of_bound;
    if (out->n_failed_checks > 0)
        bare.checks = first_failure(&out->checks, pool);
    bare.dropped = "all but the head, what it rests on and the first failure";
    *out = bare;
}

/* Three digits, four behind a leading 1, say what a timing knows; seventeen cost the reader's
 * context. */
static double rounded(double value)
{
    char text[40];

    snprintf(text, sizeof(text), "%.3e", value);
    if (text[value < 0] != '1')
        snprintf(text, sizeof(text), "%.2e", value);
    return isfinite(value) ? strtod(text, NULL) : value;
}

/* Rounds every figure of a struct and of what hangs off it. The memory is this call's own. */
void hone_figures_round(void *object, const struct hone_field *fields, size_t n_fields)
{
    for (size_t i = 0; i < n_fields; i++) {
        char *at = (char *)object + fields[i].offset;
        if (fields[i].type == HONE_FIELD_F64) {
            double value;
            memcpy(&value, at, sizeof(value));
            value = rounded(value);
            memcpy(at, &value, sizeof(value));
        } else if (fields[i].type == HONE_FIELD_OBJECT) {
            void *nested;
            memcpy(&nested, at, sizeof(nested));
            if (nested != NULL)
                hone_figures_round(nested, fields[i].of, fields[i].n_of);
        } else if (fields[i].type == HONE_FIELD_ARRAY) {
            struct hone_array array;
            memcpy(&array, at, sizeof(array));
            for (size_t k = 0; k < array.n; k++)
                hone_figures_round((char *)array.v + k * fields[i].of_size, fields[i].of,
                                   fields[i].n_of);
        }
    }
}

void hone_kernel_fit(struct hone_tool_ctx *ctx, const struct hone_field *fields, size_t n_fields,
                     const char *detail, struct hone_kernel_out *out)
{
    struct hone_kernel_out all;
    size_t budget = hone_detail_budget(detail);
    size_t level = budget <= 1000 ? 0 : budget <= 4000 ? 1 : 2;
    struct share share = shares[level];

    hone_figures_round(out, fields, n_fields);
    all = *out;
    all.head.summary = hone_plain_line(ctx->pool, out->head.summary, 400);
    for (int i = 0; i < 10; i++) {
        *out = all;
        apply_share(&share, ctx->pool, out);
        out->dropped = level > 0 ? dropped_text(&all, out, ctx->pool) : NULL;
        /* Assembly was asked for by an argument of its own: it comes on top. */
        size_t extra = out->assembly != NULL ? strlen(out->assembly) : 0;
        if (hone_result_bytes(out, fields, n_fields) <= budget + extra)
            return;
        if (all.contents == NULL)
            share = halved(share);
        all.contents = NULL; /* goes first */
    }
    keep_head(ctx->pool, out);
}

int hone_kernel_answer(struct hone_tool_ctx *ctx, const struct hone_kernel_call *call,
                       const struct hone_tool *tool, const char *detail,
                       struct hone_kernel_out *out, struct hone_err *err)
{
    struct hone_evaluation evaluation;
    int rc = hone_evaluate(ctx, &call->request, &evaluation, err);

    if (rc < 0)
        return rc;
    hone_kernel_fill(ctx, &evaluation, out);
    out->task = hone_pool_strdup(ctx->pool, call->task->name);
    hone_kernel_fit(ctx, tool->out, tool->n_out, detail, out);
    return 0;
}
