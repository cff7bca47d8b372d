/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/tools/agent_call.h"

#include <stdlib.h>
#include <string.h>

#include "agents/search/search.h"
#include "workspace/history.h"

extern const struct hone_tool hone_tool_search_outcome, hone_tool_search_start,
    hone_tool_search_steer, hone_tool_search_stop, hone_tool_strategy_apply,
    hone_tool_strategy_propose;

static const struct hone_tool *const tools[] = {
    &hone_tool_search_outcome, &hone_tool_search_start,   &hone_tool_search_steer,
    &hone_tool_search_stop,    &hone_tool_strategy_apply, &hone_tool_strategy_propose,
};
const struct hone_tool_set hone_tool_set_agents = {.tools = tools, .n = HONE_COUNTOF(tools)};

void hone_agent_call_done(struct hone_agent_call *call)
{
    hone_c_parser_free(call->parser);
    hone_task_free(call->task);
    *call = (struct hone_agent_call){.task = NULL};
}

static int read_commit(struct hone_tool_ctx *ctx, const char *rev, struct hone_agent_call *call,
                       struct hone_err *err)
{
    struct hone_history *history = hone_workspace_history(ctx->app->ws);
    char commit[HONE_COMMIT_BYTES];
    struct hone_version v;
    int r = hone_history_resolve(history, rev, commit, err);
    if (r == 0)
        r = hone_history_read(history, commit, ctx->pool, &v, err);
    if (r < 0)
        return hone_wrap(err, "commit '%.64s'", rev);
    if (!v.source || (v.task && strcmp(v.task, call->task->name) != 0))
        return hone_fail_at(err, HONE_E_ARG, "commit", "is no version of task '%s'",
                            call->task->name);
    if (call->target && v.target && strcmp(v.target, call->target) != 0)
        return hone_fail_at(err, HONE_E_ARG, "target", "the commit is a version for %.40s",
                            v.target);
    if (!call->target && v.target)
        call->target = v.target;
    call->source = v.source;
    call->commit = hone_pool_strdup(ctx->pool, commit);
    call->has_report = v.report_json && hone_report_parse(v.report_json, strlen(v.report_json),
                                                          ctx->pool, &call->report, NULL) == 0;
    return 0;
}

static int read_naive(struct hone_tool_ctx *ctx, struct hone_agent_call *call, struct hone_err *err)
{
    HONE_AUTOFREE char *text = NULL;
    int r = hone_task_naive(call->task, call->target, &text, err);
    if (r == 0)
        call->source = hone_pool_strdup(ctx->pool, text);
    return r;
}

int hone_agent_call_init(struct hone_tool_ctx *ctx, const char *task, const char *target,
                         const char *source, const char *commit, struct hone_agent_call *ret,
                         struct hone_err *err)
{
    if (source && commit)
        return hone_fail_at(err, HONE_E_ARG, "source", "give source or commit, not both");
    int r = hone_workspace_task(ctx->app->ws, task, &ret->task, err);
    if (r == 0)
        r = hone_c_parser_new(&ret->parser, err);
    if (r < 0)
        return r;
    ret->source = source;
    ret->target = target;
    if (commit)
        r = read_commit(ctx, commit, ret, err);
    ret->target = hone_task_target_of(ret->task, ret->target);
    if (r == 0)
        r = hone_task_select(ret->task, ret->target, err);
    if (r == 0 && !commit && !source)
        r = read_naive(ctx, ret, err);
    if (r == 0)
        r = hone_coder_read_kernel(ret->parser, ret->task, ret->target, ret->source, ctx->pool,
                                   &ret->input, err);
    return r;
}
