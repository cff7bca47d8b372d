/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/kernel.h"

#include <math.h>

static const struct hone_field in_fields[] = {
    HONE_KERNEL_IN_SOURCE,
    HONE_KERNEL_IN_WORKLOADS,
    HONE_KERNEL_IN_WORDS,
    HONE_IN_(tier, .fallback_i64 = HONE_TIER_SCREEN, .choices = hone_tier_choices,
             .help = "screen claims nothing; only confirm (fresh data, drawn sizes) "
                     "may be claimed."),
    HONE_IN_(budget_ms, .min = 0, .max = HONE_LIMIT_TIMEOUT_MS, .unit = "ms",
             .help = "Timed rounds, all sizes, no checks; 0: by tier."),
};

static const struct hone_field out_fields[] = {
    HONE_KERNEL_OUT_BASE,
    HONE_KERNEL_OUT_TIMES,
    HONE_KERNEL_OUT_CHECKS,
    HONE_OUT_(start, .help = "How to begin, when no source was given."),
};

/* Without a source the call is a question: what would be accepted? */
static void explain(struct hone_tool_ctx *ctx, const struct hone_task *task,
                    struct hone_kernel_out *out)
{
    HONE_AUTOFREE char *signature = hone_task_signature(task);

    out->head.status = "ok";
    out->head.summary =
        hone_pool_printf(ctx->pool, "no source was given; %s needs a C file that defines: %s",
                         task->name, signature);
    out->head.next = "task_show with source true prints the baseline to start from; then "
                     "kernel_evaluate with your source.";
    out->task = hone_pool_strdup(ctx->pool, task->name);
    out->signature = hone_pool_strdup(ctx->pool, signature);
    out->start = hone_pool_printf(
        ctx->pool,
        "#include <stdint.h>\n\n%s\n{\n    /* compute every output element from the inputs */\n}\n",
        signature);
    out->time_ns = out->baseline_ns = out->worst_ratio = out->percent_of_bound = NAN;
}

static int run(struct hone_tool_ctx *ctx, const void *arguments, void *result, struct hone_err *err)
{
    HONE_CLEANUP(hone_kernel_call_done) struct hone_kernel_call call = {.task = NULL};
    const struct hone_kernel_in *in = arguments;
    int rc = hone_kernel_call_init(ctx, in, &call, err);

    if (rc < 0)
        return rc;
    if (call.request.source == NULL) {
        explain(ctx, call.task, result);
        return 0;
    }
    return hone_kernel_answer(ctx, &call, &hone_tool_kernel_evaluate, in->detail, result, err);
}

const struct hone_tool hone_tool_kernel_evaluate = {
    .name = "kernel_evaluate",
    .title = "Evaluate a kernel",
    .summary = "Compile, verify and time a kernel against the task's baseline; one verdict.",
    .description =
        "Compiles, verifies and times one source: verdict, speedup with interval, times per "
        "workload, or the first failing case. Every "
        "version becomes a git commit, wrong ones too. 0.3 s (screen), seconds a workload "
        "(decide), 10 to 150 s (confirm); a known answer at once. Without source: "
        "the signature. Report only confirmed figures.",
    .flags = HONE_TOOL_NEEDS_DEVICE | HONE_TOOL_IDEMPOTENT | HONE_TOOL_LONG,
    HONE_TOOL_TABLES(struct hone_kernel_in, struct hone_kernel_out),
    .run = run,
};
