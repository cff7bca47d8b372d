#include "tools/kernel.h"

#include "tools/plain.h"

static const struct hone_field in_fields[] = {
    HONE_KERNEL_IN_SOURCE,
    HONE_KERNEL_IN_WORKLOADS,
};

static const struct hone_field out_fields[] = {
    HONE_KERNEL_OUT_BASE,
    HONE_KERNEL_OUT_TIMES,
    HONE_KERNEL_OUT_PROFILE,
};

static void say_what_limits(struct hone_tool_ctx *ctx, struct hone_kernel_out *out)
{
    const struct hone_bottleneck *worst = out->bottlenecks.v;

    if (out->bottlenecks.n == 0)
        return;
    out->head.summary =
        hone_pool_printf(ctx->pool, "%s: %s", worst->class_name,
                         worst->rule != NULL ? hone_plain_line(ctx->pool, worst->rule, 160) : "");
    out->head.next =
        hone_pool_printf(ctx->pool, "Try: %s; then kernel_evaluate with this version as parent.",
                         worst->advice != NULL ? hone_plain_line(ctx->pool, worst->advice, 120)
                                               : "what the remarks point at");
}

static int run(struct hone_tool_ctx *ctx, const void *arguments, void *result, struct hone_err *err)
{
    HONE_CLEANUP(hone_kernel_call_done) struct hone_kernel_call call = {.task = NULL};
    const struct hone_kernel_in *in = arguments;
    int rc = hone_kernel_call_init(ctx, in, &call, err);

    if (rc == 0)
        rc = hone_kernel_need_source(&call, err);
    if (rc < 0)
        return rc;
    call.request.stages = "build,smoke,profile";
    call.request.time_parent = false;
    rc = hone_kernel_answer(ctx, &call, &hone_tool_kernel_profile, in->detail, result, err);
    if (rc == 0)
        say_what_limits(ctx, result);
    return rc;
}

const struct hone_tool hone_tool_kernel_profile = {
    .name = "kernel_profile",
    .title = "Profile a kernel",
    .summary = "Find what limits a kernel: bottlenecks, counters, compiler remarks by line.",
    .description = "Compiles and runs one source in an arena of its own and returns bottleneck "
                   "classes with the rule that fired, "
                   "a few counters, the share of what the machine allows, and what the compiler "
                   "did to each loop. Side effects: "
                   "an evidence commit. Cost: the timing lease for a moment. Typical time: 1 to 5 "
                   "s. Wrong use: comparing its times "
                   "with those of kernel_evaluate; profiling disturbs.",
    .flags = HONE_TOOL_NEEDS_DEVICE | HONE_TOOL_IDEMPOTENT | HONE_TOOL_LONG,
    .in = in_fields,
    .n_in = HONE_COUNTOF(in_fields),
    .in_size = sizeof(struct hone_kernel_in),
    .out = out_fields,
    .n_out = HONE_COUNTOF(out_fields),
    .out_size = sizeof(struct hone_kernel_out),
    .run = run,
};
