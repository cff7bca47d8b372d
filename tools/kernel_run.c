/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/kernel.h"

#include <string.h>

#include "workspace/base/text.h"

static const struct hone_field in_fields[] = {
    HONE_KERNEL_IN_SOURCE,
    HONE_KERNEL_IN_AXES,
    HONE_IN_(workload, .max_len = HONE_LIMIT_NAME_BYTES, .help = "Id; none: the first public one."),
    HONE_IN_(seed, .min = 0, .max = INT64_MAX, .help = "Of the inputs."),
    HONE_IN_(n_threads, .min = 0, .max = HONE_LIMIT_CORES, .help = "0: all cores."),
    HONE_IN_(call_timeout_ms, .min = 0, .max = HONE_LIMIT_TIMEOUT_MS, .unit = "ms",
             .help = "Of the call; 0: default."),
};

static const struct hone_field out_fields[] = {
    HONE_KERNEL_OUT_BASE,
    HONE_KERNEL_OUT_TIMES,
    HONE_OUT_(output,
              .help = "Summary of the outputs, then what the kernel printed, cut in the middle."),
};

/* A run has no verdict of its own: that the source was built is not what the caller asked. */
static void say_what_ran(struct hone_tool_ctx *ctx, const char *workload,
                         struct hone_kernel_out *out)
{
    const char *said;

    if (out->output == NULL || out->head.error_class == NULL || out->head.error_class[0] != '\0')
        return;
    said = hone_pool_strndup(ctx->pool, out->output, strcspn(out->output, "\n"));
    out->head.summary = hone_pool_printf(ctx->pool, "ran once, nothing checked; %s",
                                         hone_plain_line(ctx->pool, said, 200));
    out->head.next =
        hone_pool_printf(ctx->pool, "kernel_evaluate checks and times it; this was only %s.",
                         workload != NULL ? workload : "one call");
}

static int run(struct hone_tool_ctx *ctx, const void *arguments, void *result, struct hone_err *err)
{
    HONE_CLEANUP(hone_kernel_call_done) struct hone_kernel_call call = {.task = NULL};
    const struct hone_kernel_in *in = arguments;
    const char **workload = hone_pool_alloc(ctx->pool, sizeof(*workload));
    int rc = hone_kernel_call_init(ctx, in, &call, err);

    if (rc == 0)
        rc = hone_kernel_need_source(&call, err);
    if (rc < 0)
        return rc;
    *workload = in->axes != NULL             ? NULL
                : in->workload != NULL       ? in->workload
                : call.task->n_workloads > 0 ? call.task->workloads[0].id
                                             : NULL;
    call.request.workloads = (struct hone_strs){.v = workload, .n = *workload != NULL};
    call.request.stages = "build,run";
    call.request.seed_hex = hone_pool_printf(ctx->pool, "%032llx", (unsigned long long)in->seed);
    call.request.no_commit = call.request.no_cache = true;
    call.request.time_parent = false;
    rc = hone_kernel_answer(ctx, &call, &hone_tool_kernel_run, in->detail, result, err);
    if (rc == 0)
        say_what_ran(ctx, *workload, result);
    return rc;
}

const struct hone_tool hone_tool_kernel_run = {
    .name = "kernel_run",
    .title = "Run a kernel once",
    .summary = "One call on generated inputs: output summary, time, the kernel's own output; no "
               "verdict on speed.",
    .description =
        "Calls one source once on generated inputs: summary of the outputs, wall time, what "
        "it printed. Nothing is checked or committed. 0.3 s.",
    .flags = HONE_TOOL_NEEDS_DEVICE,
    HONE_TOOL_TABLES(struct hone_kernel_in, struct hone_kernel_out),
    .run = run,
};
