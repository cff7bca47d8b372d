/* SPDX-License-Identifier: Apache-2.0 */
/* kernel_diff: what changed between two versions, in source, build and figures.
 *
 * A side is a version of the history or a source text. A version's figures are those it was
 * committed with, or of its latest later measurement of a higher tier; a source is only compiled,
 * so that build facts can be compared. Figures of two different runs are a hint: only a paired
 * timing (kernel_evaluate with parent) says which is faster, and the result says so. */
#include "tools/kernel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/best_measurement.h"
#include "tools/evaluate_text.h"
#include "workspace/base/diff.h"
#include "workspace/base/text.h"
#include "tools/rests_text.h"

#define CHANGES_MAX 64

#define PATCH_BYTES 8000 /* of an answer of detail normal */

struct diff_in {
    const char *task, *from, *to, *from_source, *to_source, *detail;
};

struct change {
    const char *name, *unit;
    double from, to, percent;
};

struct diff_out {
    struct hone_head head;
    const char *task, *from, *to, *patch, *note;
    int64_t n_added, n_removed;
    struct hone_array changes; /* of struct change, the largest first */
};

static const struct hone_field in_fields[] = {
    HONE_FIELD(struct diff_in, task, .max_len = HONE_LIMIT_NAME_BYTES,
               .help = "Task name; needed when a side is a source."),
    HONE_FIELD(struct diff_in, from, .max_len = HONE_LIMIT_NAME_BYTES,
               .help = "None: parent of `to`, or baseline."),
    HONE_FIELD(struct diff_in, to, .max_len = HONE_LIMIT_NAME_BYTES, .help = "Newer version."),
    HONE_FIELD(struct diff_in, from_source, .max_len = HONE_LIMIT_SOURCE_BYTES,
               .help = "Instead of from: a source text."),
    HONE_FIELD(struct diff_in, to_source, .max_len = HONE_LIMIT_SOURCE_BYTES,
               .help = "Instead of to: a source text."),
    HONE_FIELD(struct diff_in, detail, .fallback_str = "normal", .choices = hone_detail_choices,
               .help = HONE_DETAIL_HELP),
};

static const struct hone_field change_fields[] = {
    HONE_FIELD(struct change, name, .required = true, .help = "Figure."),
    HONE_FIELD(struct change, unit, .skip_empty = true, .help = "Unit."),
    HONE_FIELD(struct change, from, .help = "Before."),
    HONE_FIELD(struct change, to, .help = "After."),
    HONE_FIELD(struct change, percent, .unit = "%", .help = "Relative change."),
};

#define OUT(m_, ...) HONE_FIELD(struct diff_out, m_, .skip_empty = true, __VA_ARGS__)
static const struct hone_field out_fields[] = {
    HONE_HEAD_FIELDS(struct diff_out),
    OUT(task, .help = "Task."),
    OUT(from, .help = "Older side."),
    OUT(to, .help = "Newer side."),
    OUT(n_added, .help = "Lines added."),
    OUT(n_removed, .help = "Lines removed."),
    OUT(changes, HONE_OF(struct change, change_fields), .help = "Figures that changed most."),
    OUT(note, .help = "What the figures are worth."),
    OUT(patch, .help = "Unified diff, cut in the middle."),
};

struct side {
    const char *name, *source, *task, *parent;
    bool has_report;
    struct hone_report report;
};

static int read_version(struct hone_tool_ctx *ctx, const char *rev, struct side *ret,
                        struct hone_err *err)
{
    struct hone_history *history = hone_workspace_history(ctx->app->ws);
    struct hone_version version;
    char commit[HONE_COMMIT_BYTES];
    int rc = hone_history_resolve(history, rev, commit, err);

    if (rc == 0)
        rc = hone_history_read(history, commit, ctx->pool, &version, err);
    if (rc < 0)
        return hone_wrap(err, "version '%.64s'", hone_plain_line(ctx->pool, rev, 64));
    *ret = (struct side){.name = hone_pool_strdup(ctx->pool, commit),
                         .source = version.source,
                         .task = version.task,
                         .parent = version.parent};
    version.commit = ret->name;
    ret->has_report = hone_best_report_read(history, &version, ctx->pool, &ret->report);
    return 0;
}

/* Compiles a text for its build facts; a text that does not compile has none, which is no error
 * here. */
static int read_source(struct hone_tool_ctx *ctx, const struct hone_task *task, const char *name,
                       const char *source, struct side *ret, struct hone_err *err)
{
    const struct hone_evaluation_request req = {.task = task,
                                                .source = source,
                                                .tier = HONE_TIER_SCREEN,
                                                .stages = "build",
                                                .no_commit = true};
    struct hone_evaluation evaluation;
    int rc = hone_evaluate(ctx, &req, &evaluation, err);

    if (rc < 0)
        return rc;
    *ret = (struct side){.name = name,
                         .source = source,
                         .task = task->name,
                         .has_report = true,
                         .report = evaluation.report};
    return 0;
}

static int read_baseline(struct hone_tool_ctx *ctx, const struct hone_task *task, struct side *ret,
                         struct hone_err *err)
{
    HONE_AUTOFREE char *naive = NULL;
    int rc = hone_task_naive(task, hone_task_target_of(task, NULL), &naive, err);

    return rc < 0
               ? rc
               : read_source(ctx, task, "baseline", hone_pool_strdup(ctx->pool, naive), ret, err);
}

static int read_sides(struct hone_tool_ctx *ctx, const struct diff_in *in,
                      const struct hone_task *task, struct side *from, struct side *to,
                      struct hone_err *err)
{
    struct hone_history *history = hone_workspace_history(ctx->app->ws);
    int rc = in->to_source != NULL ? read_source(ctx, task, "to_source", in->to_source, to, err)
                                   : read_version(ctx, in->to, to, err);

    if (rc < 0)
        return rc;
    if (in->from_source != NULL)
        return read_source(ctx, task, "from_source", in->from_source, from, err);
    if (in->from != NULL)
        return read_version(ctx, in->from, from, err);
    if (to->parent != NULL && hone_history_has(history, to->parent))
        return read_version(ctx, to->parent, from, err);
    return read_baseline(ctx, task, from, err);
}

struct changes {
    struct change *v;
    size_t n;
};

static void add(struct changes *changes, const char *name, const char *unit, double from, double to)
{
    if (changes->n == CHANGES_MAX || !(from > 0) || !(to > 0) || from == to)
        return;
    changes->v[changes->n++] = (struct change){
        .name = name, .unit = unit, .from = from, .to = to, .percent = 100 * (to - from) / from};
}

static void add_counters(struct changes *changes, const struct hone_report *from,
                         const struct hone_report *to)
{
    const struct hone_counter *a, *b;

    if (from->profile == NULL || to->profile == NULL)
        return;
    a = from->profile->counters.v;
    b = to->profile->counters.v;
    for (size_t i = 0; i < from->profile->counters.n; i++)
        for (size_t k = 0; k < to->profile->counters.n; k++)
            if (strcmp(a[i].name, b[k].name) == 0 && a[i].kernel == NULL && b[k].kernel == NULL)
                add(changes, a[i].name, a[i].unit, a[i].value, b[k].value);
}

static void add_workloads(struct changes *changes, struct hone_pool *pool,
                          const struct hone_report *from, const struct hone_report *to)
{
    const struct hone_workload_report *a = from->workloads.v, *b = to->workloads.v;

    for (size_t i = 0; i < from->workloads.n; i++)
        for (size_t k = 0; k < to->workloads.n; k++)
            if (strcmp(a[i].id, b[k].id) == 0)
                add(changes, hone_pool_printf(pool, "time_ns.%s", a[i].id), "ns",
                    hone_workload_time_ns(&a[i], "candidate"),
                    hone_workload_time_ns(&b[k], "candidate"));
}

static int by_size(const void *a, const void *b)
{
    double left = fabs(((const struct change *)a)->percent);
    double right = fabs(((const struct change *)b)->percent);

    return (left < right) - (left > right);
}

static void compare_reports(struct hone_pool *pool, const struct side *from, const struct side *to,
                            struct hone_array *ret)
{
    struct changes changes = {.v = hone_pool_alloc(pool, CHANGES_MAX * sizeof(struct change))};
    const struct hone_report *a = &from->report, *b = &to->report;

    if (!from->has_report || !to->has_report)
        return;
    add(&changes, "time_ns", "ns", hone_report_time_ns(a, "candidate"),
        hone_report_time_ns(b, "candidate"));
    add(&changes, "percent_of_bound", "%", hone_shown_percent(a->percent_of_bound),
        hone_shown_percent(b->percent_of_bound));
    if (a->build != NULL && b->build != NULL) {
        add(&changes, "object_bytes", "bytes", (double)a->build->object_bytes,
            (double)b->build->object_bytes);
        if (!a->build->is_cached && !b->build->is_cached)
            add(&changes, "build_ns", "ns", (double)a->build->wall_ns, (double)b->build->wall_ns);
    }
    add_workloads(&changes, pool, a, b);
    add_counters(&changes, a, b);
    qsort(changes.v, changes.n, sizeof(*changes.v), by_size);
    *ret = (struct hone_array){.v = changes.v, .n = changes.n};
}

static void count_lines(const char *patch, struct diff_out *out)
{
    bool is_body = false;

    for (const char *at = patch; *at != '\0'; at += strcspn(at, "\n"), at += *at == '\n') {
        is_body = is_body || *at == '@';
        out->n_added += is_body && *at == '+';
        out->n_removed += is_body && *at == '-';
    }
}

static void fit(struct hone_tool_ctx *ctx, const char *detail, struct diff_out *out)
{
    size_t budget = hone_detail_budget(detail), room = budget * 3 / 4;
    const char *patch = out->patch;

    if (budget <= 1000 && out->changes.n > 2)
        out->changes.n = 2;
    else if (budget <= 4000 && out->changes.n > 10)
        out->changes.n = 10;
    if (budget == hone_detail_budget("normal")) /* a patch with a hole is worth little */
        budget = room = PATCH_BYTES;
    for (int i = 0; i < 12; i++, room = room * 2 / 3) {
        out->patch = hone_plain_cut(ctx->pool, patch, room);
        if (hone_result_bytes(out, out_fields, HONE_COUNTOF(out_fields)) <= budget)
            return;
    }
    out->patch = NULL;
}

static void summarise(struct hone_tool_ctx *ctx, const struct side *from, const struct side *to,
                      struct diff_out *out)
{
    double before =
        from->has_report ? hone_report_time_ns(&from->report, "candidate") : (double)NAN;
    double after = to->has_report ? hone_report_time_ns(&to->report, "candidate") : (double)NAN;
    const char *times =
        before > 0 && after > 0
            ? hone_pool_printf(ctx->pool, "; time %s -> %s in two separate runs",
                               hone_plain_ns(ctx->pool, before), hone_plain_ns(ctx->pool, after))
            : "; no times to compare";

    out->head.status = "ok";
    out->head.summary = hone_pool_printf(ctx->pool, "%lld lines added, %lld removed%s",
                                         (long long)out->n_added, (long long)out->n_removed, times);
    out->head.next =
        "kernel_evaluate with commit and parent times both sides in one run: only that "
        "says which is faster.";
    out->from = from->name;
    out->to = to->name;
    out->task = hone_pool_strdup(ctx->pool, to->task);
    out->note = "Figures come from separate runs; differences of a few percent are noise.";
}

static int check(const struct diff_in *in, struct hone_err *err)
{
    if ((in->to == NULL) == (in->to_source == NULL))
        return hone_fail_at(err, HONE_E_ARG, "to", "give either to (a version) or to_source");
    if (in->from != NULL && in->from_source != NULL)
        return hone_fail_at(err, HONE_E_ARG, "from", "give either from (a version) or from_source");
    if (in->task == NULL && (in->to_source != NULL || in->from_source != NULL))
        return hone_fail_at(err, HONE_E_ARG, "task", "is needed when a side is a source");
    return 0;
}

static int load_task(struct hone_tool_ctx *ctx, const struct diff_in *in, struct hone_task **ret,
                     struct hone_err *err)
{
    struct side side;
    int rc;

    if (in->task != NULL)
        return hone_workspace_task(ctx->app->ws, in->task, ret, err);
    rc = read_version(ctx, in->to, &side, err);
    if (rc == 0 && side.task == NULL)
        rc = hone_fail_at(err, HONE_E_ARG, "to", "names no task; pass task");
    return rc < 0 ? rc : hone_workspace_task(ctx->app->ws, side.task, ret, err);
}

static int run(struct hone_tool_ctx *ctx, const void *arguments, void *result, struct hone_err *err)
{
    HONE_CLEANUP(hone_task_free_ptr) struct hone_task *task = NULL;
    const struct diff_in *in = arguments;
    struct diff_out *out = result;
    struct side from, to;
    int rc = check(in, err);

    if (rc == 0)
        rc = load_task(ctx, in, &task, err);
    if (rc == 0)
        rc = read_sides(ctx, in, task, &from, &to, err);
    if (rc == 0)
        rc = hone_line_diff(&(struct hone_diff_side){from.name, from.source},
                            &(struct hone_diff_side){to.name, to.source}, ctx->pool, &out->patch,
                            err);
    if (rc < 0)
        return rc;
    count_lines(out->patch, out);
    compare_reports(ctx->pool, &from, &to, &out->changes);
    summarise(ctx, &from, &to, out);
    hone_figures_round(out, out_fields, HONE_COUNTOF(out_fields));
    fit(ctx, in->detail, out);
    return 0;
}

const struct hone_tool hone_tool_kernel_diff = {
    .name = "kernel_diff",
    .title = "Compare two versions",
    .summary = "What changed between two versions: source patch, build facts, figures.",
    .description =
        "Unified diff of two versions or sources, and the figures that changed most. Changes "
        "nothing; 10 ms to 1 s. Does not say which is faster: kernel_compare times both in "
        "one run.",
    .flags = HONE_TOOL_READ_ONLY | HONE_TOOL_LONG,
    HONE_TOOL_TABLES(struct diff_in, struct diff_out),
    .run = run,
};
