/* SPDX-License-Identifier: Apache-2.0 */
/* Tool task_show: all tasks in short, or one in full with signature, sizes, tolerance and the
 * baseline's source. What a detail level leaves out is said (fit). */
#include "tools/kernel.h"

#include <string.h>

#include "tools/format/options.h"
#include "workspace/base/text.h"

struct show_in {
    const char *task, *name, *target, *detail;
    bool source;
};

struct task_row {
    const char *name, *op_type, *signature, *problem;
    int64_t n_workloads;
};

struct show_out {
    struct hone_head head;
    const char *name, *signature, *signature_cuda, *description, *baseline, *build, *start;
    struct hone_json *task; /* the pool's */
    struct hone_array tasks;
};

static const struct hone_field in_fields[] = {
    HONE_FIELD(struct show_in, task, .max_len = HONE_LIMIT_NAME_BYTES,
               .help = "Name; without it all are listed."),
    HONE_FIELD(struct show_in, name, .max_len = HONE_LIMIT_NAME_BYTES, .is_hidden = true),
    HONE_FIELD(struct show_in, target, .choices = hone_target_words,
               .help = "Only this target; without it both and the cpu baseline."),
    HONE_FIELD(struct show_in, source, .help = "Print the baseline's source too."),
    HONE_FIELD(struct show_in, detail, .fallback_str = "normal", .choices = hone_detail_choices,
               .help = HONE_DETAIL_HELP),
};

static const struct hone_field row_fields[] = {
    HONE_FIELD(struct task_row, name, .required = true, .help = "Task."),
    HONE_FIELD(struct task_row, op_type, .skip_empty = true, .help = "Kind of operation."),
    HONE_FIELD(struct task_row, n_workloads, .skip_empty = true, .help = "Public sizes."),
    HONE_FIELD(struct task_row, signature, .skip_empty = true, .help = "C function."),
    HONE_FIELD(struct task_row, problem, .skip_empty = true, .help = "Why it does not load."),
};

#define OUT(m_, ...) HONE_FIELD(struct show_out, m_, .skip_empty = true, __VA_ARGS__)
static const struct hone_field out_fields[] = {
    HONE_HEAD_FIELDS(struct show_out),
    OUT(name, .help = "Task."),
    OUT(signature, .help = "What a source has to define; for cpu unless target says otherwise."),
    OUT(signature_cuda, .help = "The same for cuda."),
    OUT(description, .help = "What is computed."),
    OUT(task, .json_schema = "{\"type\":\"object\"}",
        .help = "Axes, tensors, tolerance, workloads and formulas."),
    OUT(baseline, .help = "Source of the baseline."),
    OUT(build, .help = "How sources are compiled, threads, tunables."),
    OUT(start, .help = "How to begin."),
    OUT(tasks, HONE_OF(struct task_row, row_fields), .help = "All tasks."),
};

static void fill_row(struct hone_tool_ctx *ctx, const char *name, struct task_row *row)
{
    HONE_CLEANUP(hone_task_free_ptr) struct hone_task *task = NULL;
    HONE_AUTOFREE char *signature = NULL;
    struct hone_err err = HONE_ERR_INIT;

    row->name = name;
    if (hone_workspace_task(ctx->app->ws, name, &task, &err) < 0) {
        row->problem = hone_plain_line(ctx->pool, err.message, 200);
        return;
    }
    signature = hone_task_signature(task);
    row->op_type = hone_pool_strdup(ctx->pool, task->op_type);
    row->signature = hone_pool_strdup(ctx->pool, signature);
    row->n_workloads = (int64_t)task->n_workloads;
}

static int list(struct hone_tool_ctx *ctx, const char *detail, struct show_out *out,
                struct hone_err *err)
{
    const char **names;
    struct task_row *rows;
    size_t n, budget = hone_detail_budget(detail);
    int rc = hone_workspace_task_names(ctx->app->ws, ctx->pool, &names, &n, err);

    if (rc < 0)
        return rc;
    rows = hone_pool_alloc(ctx->pool, (n + 1) * sizeof(*rows));
    for (size_t i = 0; i < n; i++)
        fill_row(ctx, names[i], &rows[i]);
    out->tasks = (struct hone_array){.v = rows, .n = n};
    out->head.status = "ok";
    out->head.summary =
        hone_pool_printf(ctx->pool, "%zu task%s in this workspace", n, n == 1 ? "" : "s");
    out->head.next = "task_show with a task, then kernel_evaluate.";
    if (hone_result_bytes(out, out_fields, HONE_COUNTOF(out_fields)) > budget)
        for (size_t i = 0; i < n; i++) /* lists degrade to names */
            rows[i] = (struct task_row){.name = rows[i].name};
    while (out->tasks.n > 0 &&
           hone_result_bytes(out, out_fields, HONE_COUNTOF(out_fields)) > budget) {
        out->tasks.n /= 2;
        out->head.summary =
            hone_pool_printf(ctx->pool, "the first %zu of %zu tasks", out->tasks.n, n);
    }
    return 0;
}

static void fit(struct hone_tool_ctx *ctx, const char *detail, struct show_out *out)
{
    size_t budget = hone_detail_budget(detail), room = budget / 2;
    const char *baseline = out->baseline;

    if (budget <= 1000)
        out->task = NULL;
    for (int i = 0; i < 8; i++, room /= 2) {
        out->baseline = hone_plain_cut(ctx->pool, baseline, room);
        if (hone_result_bytes(out, out_fields, HONE_COUNTOF(out_fields)) <= budget)
            return;
    }
    out->baseline = NULL;
    out->description = hone_plain_cut(ctx->pool, out->description, 300);
    if (hone_result_bytes(out, out_fields, HONE_COUNTOF(out_fields)) > budget)
        out->task = NULL;
    if (hone_result_bytes(out, out_fields, HONE_COUNTOF(out_fields)) > budget)
        out->description = out->start = out->build = NULL;
}

static const char start_cpu[] =
    "Write a C file that defines the signature; OpenMP, vector extensions and intrinsics are "
    "welcome; pass it to kernel_evaluate as source. hone://docs/contents lists the kinds of "
    "inputs that it has to get right, hone://docs/tasks explains tolerance and policy.";
static const char tunables[] =
    "`#pragma hone tune(TILE: 8, 16)` defines the macro TILE as 8; kernel_tune tries the others.";

static const char *build_of(const char *target, struct hone_pool *pool)
{
    const char *const *options = hone_options_of_objects();
    const char *text = "gcc";
    if (hone_target_traits(target)->language == HONE_LANGUAGE_CUDA)
        return hone_pool_printf(pool,
                                "NVRTC for the device at hand with the instructions of its own "
                                "architecture (sm_90a on an sm_90), the launcher's host part by "
                                "g++; its launches are recorded, not run. flags adds options. %s",
                                tunables);
    for (size_t i = 0; options[i] != NULL; i++)
        text = hone_pool_printf(pool, "%s %s", text, options[i]);
    return hone_pool_printf(pool,
                            "%s; no fast-math unless flags adds it. OpenMP gets every core, or "
                            "n_threads: one less is often steadier. %s",
                            text, tunables);
}

static const char start_cuda[] =
    "Write a CUDA file whose extern \"C\" launcher has the signature and launches on the given "
    "stream; pass it to kernel_evaluate as source with target cuda. hone://docs/contents lists the "
    "kinds of inputs that it has to get right, hone://docs/tasks explains tolerance and policy.";

static void free_json(void *json)
{
    hone_json_free(json);
}

/* What stands beside it in the answer, and what only those need who made the task. */
static void drop_known(struct hone_json *task)
{
    static const char *const known[] = {"name",           "description", "signature",
                                        "signature_cuda", "hash",        "calibration"};
    for (size_t i = 0; i < HONE_COUNTOF(known); i++)
        hone_json_free(hone_json_detach(task, known[i]));
}

static int show(struct hone_tool_ctx *ctx, const struct show_in *in, struct show_out *out,
                struct hone_err *err)
{
    HONE_CLEANUP(hone_task_free_ptr) struct hone_task *task = NULL;
    HONE_AUTOFREE char *signature = NULL;
    HONE_AUTOFREE char *naive = NULL;
    HONE_AUTOFREE char *cuda = NULL;
    const char *target = NULL;
    int rc = hone_workspace_task(ctx->app->ws, in->task, &task, err);

    if (rc == 0)
        target = hone_task_target_of(task, in->target);
    if (rc == 0 && in->target != NULL)
        rc = hone_task_select(task, in->target, err);
    if (rc == 0 && in->source)
        rc = hone_task_naive(task, target, &naive, err);
    if (rc < 0)
        return rc;
    if (in->target == NULL && hone_task_has_kernel(task, HONE_TASK_CUDA))
        cuda = hone_task_signature_for(task, hone_targets[HONE_TASK_CUDA].name);
    signature = hone_task_signature(task);
    out->name = hone_pool_strdup(ctx->pool, task->name);
    out->signature = hone_pool_strdup(ctx->pool, signature);
    out->signature_cuda = hone_pool_strdup(ctx->pool, cuda);
    out->description = hone_pool_strdup(ctx->pool, task->description);
    out->baseline = hone_pool_strdup(ctx->pool, naive);
    out->task = hone_task_describe(task);
    hone_pool_defer(ctx->pool, free_json, out->task);
    if (strcmp(in->detail, "full") != 0)
        drop_known(out->task);
    out->build = build_of(target, ctx->pool);
    out->start =
        hone_target_traits(target)->language == HONE_LANGUAGE_CUDA ? start_cuda : start_cpu;
    if (cuda != NULL && out->start == start_cpu)
        out->start =
            hone_pool_printf(ctx->pool, "%s With target cuda this is said for CUDA.", start_cpu);
    out->head.status = "ok";
    out->head.summary = hone_pool_printf(ctx->pool, "%s: %s, %zu public workload%s", task->name,
                                         task->op_type != NULL ? task->op_type : "kernel",
                                         task->n_workloads, task->n_workloads == 1 ? "" : "s");
    out->head.next = in->source
                         ? "kernel_evaluate with your source."
                         : "task_show with source true prints the baseline; kernel_evaluate judges "
                           "your source.";
    fit(ctx, in->detail, out);
    return 0;
}

static int run(struct hone_tool_ctx *ctx, const void *arguments, void *result, struct hone_err *err)
{
    struct show_in in = *(const struct show_in *)arguments;

    if (in.task == NULL)
        in.task = in.name;
    return in.task != NULL ? show(ctx, &in, result, err) : list(ctx, in.detail, result, err);
}

const struct hone_tool hone_tool_task_show = {
    .name = "task_show",
    .title = "Show a task",
    .summary = "What a task computes, its sizes and tolerance; without a name all tasks.",
    .description = "One task: signature, formula, axes, tensors, tolerance, sizes, how sources are "
                   "compiled; on request the baseline's source. Without a task all tasks. Changes "
                   "nothing; milliseconds. Results are in history_show.",
    .flags = HONE_TOOL_READ_ONLY | HONE_TOOL_IDEMPOTENT,
    HONE_TOOL_TABLES(struct show_in, struct show_out),
    .run = run,
};
