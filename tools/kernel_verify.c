/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/kernel.h"

static const struct hone_field in_fields[] = {
    HONE_KERNEL_IN_SOURCE,
    HONE_KERNEL_IN_WORKLOADS,
    HONE_KERNEL_IN_WORDS,
    HONE_KERNEL_IN_AXES,
};

static const struct hone_field out_fields[] = {
    HONE_KERNEL_OUT_BASE,
    HONE_KERNEL_OUT_CHECKS,
};

static int run(struct hone_tool_ctx *ctx, const void *arguments, void *result, struct hone_err *err)
{
    HONE_CLEANUP(hone_kernel_call_done) struct hone_kernel_call call = {.task = NULL};
    const struct hone_kernel_in *in = arguments;
    int rc = hone_kernel_call_init(ctx, in, &call, err);

    if (rc == 0)
        rc = hone_kernel_need_source(&call, err);
    if (rc < 0)
        return rc;
    call.request.stages = in->axes != NULL ? "build,policy,verify" : "build,policy,smoke,verify";
    call.request.tier = HONE_TIER_DECIDE;
    call.request.time_parent = false;
    return hone_kernel_answer(ctx, &call, &hone_tool_kernel_verify, in->detail, result, err);
}

const struct hone_tool hone_tool_kernel_verify = {
    .name = "kernel_verify",
    .title = "Verify a kernel",
    .summary = "Compile a kernel and check its results against the oracle; nothing is timed.",
    .description =
        "Checks one source against the reference without timing it: smoke, then every kind "
        "of input at every size; the first failing case by name. The version becomes a "
        "commit. 0.3 to 5 s.",
    .flags = HONE_TOOL_NEEDS_DEVICE | HONE_TOOL_IDEMPOTENT | HONE_TOOL_LONG,
    HONE_TOOL_TABLES(struct hone_kernel_in, struct hone_kernel_out),
    .run = run,
};
