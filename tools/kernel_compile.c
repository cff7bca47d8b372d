/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/kernel.h"

static const struct hone_field in_fields[] = {
    HONE_KERNEL_IN_SOURCE,
    HONE_KERNEL_IN_WORDS,
    HONE_KERNEL_IN_ASSEMBLY,
};

static const struct hone_field out_fields[] = {
    HONE_KERNEL_OUT_BASE,
    HONE_KERNEL_OUT_ASSEMBLY,
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
    call.request.stages = "build,policy";
    call.request.time_parent = false;
    return hone_kernel_answer(ctx, &call, &hone_tool_kernel_compile, in->detail, result, err);
}

const struct hone_tool hone_tool_kernel_compile = {
    .name = "kernel_compile",
    .title = "Compile a kernel",
    .summary = "Compile a kernel and read its diagnostics; nothing is run.",
    .description =
        "Compiles one source in the jail: built or failed, ranked diagnostics with source "
        "lines, size; with assembly the instructions by source line. The version is kept as "
        "a commit. 0.1 to 1 s.",
    .flags = HONE_TOOL_NEEDS_DEVICE | HONE_TOOL_IDEMPOTENT,
    HONE_TOOL_TABLES(struct hone_kernel_in, struct hone_kernel_out),
    .run = run,
};
