/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/search/search.h"

struct stop_in {
    const char *job;
};

struct stop_out {
    struct hone_head head;
};

static const struct hone_field in_fields[] = {
    HONE_FIELD(struct stop_in, job, .required = true, .max_len = HONE_LIMIT_NAME_BYTES,
               .help = "Handle from search_start."),
};

static const struct hone_field out_fields[] = {HONE_HEAD_FIELDS(struct stop_out)};

static int run(struct hone_tool_ctx *ctx, const void *arguments, void *result, struct hone_err *err)
{
    const struct stop_in *in = arguments;
    struct stop_out *out = result;
    struct hone_jobs *jobs = ctx->app->jobs;
    int r = jobs ? jobs->ops->cancel(jobs, in->job, err) : HONE_E_NOT_FOUND;
    if (r == HONE_E_NOT_FOUND && ctx->app->searches)
        r = hone_search_host_stop(ctx->app->searches, in->job, err);
    if (r < 0)
        return jobs || ctx->app->searches
                   ? r
                   : hone_fail(err, HONE_E_NOT_FOUND, "nothing runs in the background here");
    out->head.status = "ok";
    out->head.job = hone_pool_strdup(ctx->pool, in->job);
    out->head.summary =
        hone_pool_printf(ctx->pool, "%s was asked to stop; what is finished is kept", in->job);
    out->head.next = "search_start with the same task, name and seed goes on from here.";
    return 0;
}

const struct hone_tool hone_tool_search_stop = {
    .name = "search_stop",
    .title = "Stop a search",
    .summary = "Ask a running search to stop; everything finished is kept.",
    .description =
        "Cancels a search. The evaluation in flight is dropped; the same search_start goes "
        "on from there. Not needed to read results: history_show works while it runs.",
    .flags = HONE_TOOL_IDEMPOTENT,
    HONE_TOOL_TABLES(struct stop_in, struct stop_out),
    .run = run,
};
