/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "agents/search/search.h"
#include "tools/kernel.h"

enum { MODEL_REPAIRS = 3 };

struct start_in {
    struct hone_search_options options;
    bool wait;
};

struct start_out {
    struct hone_head head;
    struct hone_search_result *result;
};

static const struct hone_field in_fields[] = {
    HONE_SEARCH_OPTION_ROWS(struct start_in, options),
    HONE_FIELD(struct start_in, wait, .help = "Return when it has ended."),
};

/* The pointer to the result needs a table that the compiler can count. */
static const struct hone_field out_fields[] = {
    HONE_HEAD_FIELDS(struct start_out),
    {.name = "result",
     .type = HONE_FIELD_OBJECT,
     .offset = offsetof(struct start_out, result),
     .of = hone_search_result_fields,
     .n_of = HONE_SEARCH_N_RESULT_FIELDS,
     .of_size = sizeof(struct hone_search_result),
     .skip_empty = true,
     .help = "Confirmed outcome, with wait."},
};

static void on_progress(void *arg, const struct hone_search_progress *p)
{
    struct hone_tool_ctx *ctx = arg;
    hone_tool_progress(ctx, (double)p->elapsed_ms, (double)p->budget_wall_ms,
                       "%s: best about %.3gx (%s); %s%s%s", hone_search_phase_name(p->phase),
                       p->best_ratio, p->best_word, p->budgets, p->budgets[0] ? "; " : "",
                       p->message ? p->message : "");
}

static struct hone_search_options options_of(const struct start_in *in)
{
    struct hone_search_options options = in->options;
    options.repairs = MODEL_REPAIRS;
    return options;
}

static int run_now(struct hone_tool_ctx *ctx, const struct start_in *in, struct start_out *out,
                   struct hone_err *err)
{
    struct hone_search_options options = options_of(in);
    struct hone_search_result *result = hone_pool_alloc(ctx->pool, sizeof(*result));
    int r = hone_search_run(ctx, &options, on_progress, ctx, result, err);
    if (r < 0)
        return r;
    out->result = result;
    out->head.status = "ok";
    out->head.verdict = result->verdict;
    out->head.commit = result->best_commit;
    out->head.summary = result->summary;
    out->head.next = "history_show the branch search/NAME for the steps; strategy_propose at its "
                     "commit for what is left.";
    return 0;
}

static struct hone_json *again(const struct start_in *in)
{
    struct start_in waits = *in;
    waits.wait = true;
    return hone_fields_encode(&waits, in_fields, HONE_COUNTOF(in_fields));
}

static int run(struct hone_tool_ctx *ctx, const void *arguments, void *result, struct hone_err *err)
{
    const struct start_in *in = arguments;
    struct start_out *out = result;
    const struct hone_search_options options = options_of(in);
    int checked = hone_search_check_caps(&options, err);
    if (checked < 0)
        return checked;
    struct hone_jobs *jobs = ctx->app->jobs;
    if (in->wait || !jobs)
        return run_now(ctx, in, out, err);
    HONE_AUTOJSON struct hone_json *args = again(in);
    const char *id = NULL;
    const struct hone_job_spec job = {.tool = "search_start", .args = args, .caller = ctx->caller};
    int r = jobs->ops->start(jobs, &job, ctx->pool, &id, err);
    if (r < 0)
        return r;
    out->head.status = "running";
    out->head.job = id;
    out->head.summary =
        hone_pool_printf(ctx->pool, "search of %s started as %s", in->options.task, id);
    out->head.next = "job_wait with this job; search_stop ends it and keeps everything.";
    return 0;
}

const struct hone_tool hone_tool_search_start = {
    .name = "search_start",
    .title = "Start a search",
    .summary = "Run the built-in planner and rule coder on a task under a budget.",
    .description =
        "Starts, or goes on with, the search of that name. Returns a handle for job_wait; with "
        "wait the confirmed result. A commit per version, branch search/NAME. Wants a budget.",
    .flags = HONE_TOOL_NEEDS_DEVICE | HONE_TOOL_LONG | HONE_TOOL_COSTS_MONEY,
    HONE_TOOL_TABLES(struct start_in, struct start_out),
    .run = run,
};
