/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/kernel.h"

#include <string.h>

#include "workspace/base/text.h"

static const struct hone_field in_fields[] = {
    HONE_KERNEL_IN_SOURCE,
    HONE_KERNEL_IN_WORKLOADS,
    HONE_IN_(parent, .max_len = HONE_LIMIT_NAME_BYTES, .help = "Show this version's figures too."),
    HONE_KERNEL_IN_ASSEMBLY,
};

static const struct hone_field out_fields[] = {
    HONE_KERNEL_OUT_BASE,
    HONE_KERNEL_OUT_TIMES,
    HONE_KERNEL_OUT_PROFILE,
    HONE_KERNEL_OUT_ASSEMBLY,
};

/* An evaluation's time of the same version is another: medians, and over all sizes. */
static void say_what_is_timed(struct hone_tool_ctx *ctx, const struct hone_report *report,
                              struct hone_kernel_out *out)
{
    if (report->profile != NULL && report->profile->timed != NULL)
        out->head.summary = hone_pool_printf(
            ctx->pool,
            "%s; call_ns is of %s; an evaluation's times: medians, fresh inputs, all sizes",
            out->head.summary, hone_plain_line(ctx->pool, report->profile->timed, 120));
}

static void say_what_limits(struct hone_tool_ctx *ctx, struct hone_kernel_out *out)
{
    const struct hone_bottleneck *worst = out->bottlenecks.v;
    const char *line = "";

    if (out->bottlenecks.n == 0)
        return;
    if (worst->line > 0)
        line = hone_pool_printf(ctx->pool, " (line %lld)", (long long)worst->line);
    out->head.summary =
        hone_pool_printf(ctx->pool, "%s%s: %s", worst->class_name, line,
                         worst->rule != NULL ? hone_plain_line(ctx->pool, worst->rule, 240) : "");
    bool is_loaded = strcmp(worst->class_name, HONE_BOTTLENECK_LOADED) == 0;
    out->head.next =
        hone_pool_printf(ctx->pool, "Try: %s%s",
                         worst->advice != NULL ? hone_plain_line(ctx->pool, worst->advice, 160)
                                               : "what the remarks point at",
                         is_loaded ? "." : "; then kernel_evaluate with this version as parent.");
}

/* The latest profile among a version's reports; NULL: it was never profiled. */
static const struct hone_profile_report *profile_of(struct hone_tool_ctx *ctx, const char *rev)
{
    struct hone_history *history = hone_workspace_history(ctx->app->ws);
    struct hone_version version, *evidence = NULL;
    char commit[HONE_COMMIT_BYTES];
    size_t n = 0;
    const struct hone_profile_report *found = NULL;

    if (hone_history_resolve(history, rev, commit, NULL) < 0 ||
        hone_history_read(history, commit, ctx->pool, &version, NULL) < 0)
        return NULL;
    (void)hone_history_evidence_of(history, commit, ctx->pool, &evidence, &n, NULL);
    for (size_t i = 0; i <= n; i++) {
        const char *text = i == 0 ? version.report_json : evidence[i - 1].report_json;
        struct hone_report report;
        if (text != NULL && hone_report_parse(text, strlen(text), ctx->pool, &report, NULL) == 0 &&
            report.profile != NULL)
            found = report.profile;
    }
    return found;
}

static void add_parent(const struct hone_profile_report *parent, struct hone_kernel_out *out)
{
    struct hone_counter *counters = out->counters.v;
    const struct hone_counter *before = parent->counters.v;

    for (size_t i = 0; i < out->counters.n; i++)
        for (size_t k = 0; k < parent->counters.n; k++)
            if (counters[i].kernel == NULL && before[k].kernel == NULL &&
                strcmp(counters[i].name, before[k].name) == 0)
                counters[i].parent_value = before[k].value;
}

static int run(struct hone_tool_ctx *ctx, const void *arguments, void *result, struct hone_err *err)
{
    HONE_CLEANUP(hone_kernel_call_done) struct hone_kernel_call call = {.task = NULL};
    const struct hone_kernel_in *in = arguments;
    struct hone_kernel_out *out = result;
    struct hone_evaluation evaluation;
    int rc = hone_kernel_call_init(ctx, in, &call, err);

    if (rc == 0)
        rc = hone_kernel_need_source(&call, err);
    if (rc < 0)
        return rc;
    call.request.stages = "build,smoke,profile";
    call.request.time_parent = false;
    rc = hone_evaluate(ctx, &call.request, &evaluation, err);
    if (rc < 0)
        return rc;
    hone_kernel_fill(ctx, &evaluation, out);
    out->task = hone_pool_strdup(ctx->pool, call.task->name);
    const struct hone_profile_report *parent =
        call.request.parent != NULL ? profile_of(ctx, call.request.parent) : NULL;
    if (parent != NULL)
        add_parent(parent, out);
    say_what_limits(ctx, out);
    say_what_is_timed(ctx, &evaluation.report, out);
    out->head.summary = hone_kernel_refuted(&evaluation, out->head.summary, ctx->pool);
    hone_kernel_fit(ctx, hone_tool_kernel_profile.out, hone_tool_kernel_profile.n_out, in->detail,
                    out);
    return 0;
}

const struct hone_tool hone_tool_kernel_profile = {
    .name = "kernel_profile",
    .title = "Profile a kernel",
    .summary = "Find what limits a kernel: bottlenecks, counters, compiler remarks by line.",
    .description = "What limits one source: bottleneck classes with the rule that fired, counters, "
                   "share of what the machine allows, what the compiler did to each loop; on a GPU "
                   "hardware counters, launch facts and the heaviest instructions. 1 to 5 s. Its "
                   "times are disturbed.",
    .flags = HONE_TOOL_NEEDS_DEVICE | HONE_TOOL_IDEMPOTENT | HONE_TOOL_LONG,
    HONE_TOOL_TABLES(struct hone_kernel_in, struct hone_kernel_out),
    .run = run,
};
