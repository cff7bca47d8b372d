/* SPDX-License-Identifier: Apache-2.0 */
/* A task is a job under another name: its state is read with a wait that has no time, and each method
 * answers from there. Nothing is kept here. */
#include "server/rpc/mcp_tasks.h"

#include <stdlib.h>
#include <string.h>
#include "server/rpc/jobs.h"
#include "server/rpc/mcp_modern.h"
#include "server/rpc/mcp_tools.h"
#include "workspace/base/clock.h"
#include "workspace/base/limits.h"

#define POLL_MS 1000

static const char *const words[] = {
    [HONE_JOB_QUEUED] = "working",      [HONE_JOB_RUNNING] = "working",
    [HONE_JOB_DONE] = "completed",      [HONE_JOB_FAILED] = "completed",
    [HONE_JOB_CANCELLED] = "cancelled",
};

static bool knows_tasks(const struct hone_mcp_request *request)
{
    const struct hone_json *tasks =
        hone_json_get(hone_json_get(request->able, "extensions"), HONE_MCP_TASKS);
    return request->revision->is_stateless && hone_json_type(tasks) == HONE_JSON_OBJECT;
}

bool hone_mcp_wants_task(const struct hone_mcp_request *request, const struct hone_tool *tool)
{
    const unsigned wanted = HONE_TOOL_LONG | HONE_TOOL_NEEDS_DEVICE;
    return ((tool->flags & wanted) == wanted || (tool->flags & HONE_TOOL_TASK_ONLY) != 0) &&
           knows_tasks(request);
}

bool hone_mcp_may_wait(const struct hone_mcp_request *request, const struct hone_tool *tool)
{
    return (tool->flags & HONE_TOOL_TASK_ONLY) == 0 || knows_tasks(request);
}

static void answer_missing(const struct hone_mcp_request *request)
{
    HONE_AUTOJSON struct hone_json *needed = hone_json_new_object();
    struct hone_json *extensions = hone_json_new_object();
    hone_json_set(extensions, HONE_MCP_TASKS, hone_json_new_object());
    hone_json_set(needed, "extensions", extensions);
    hone_mcp_answer_missing(request, needed);
}

void hone_mcp_refuse_task(const struct hone_mcp_request *request, const struct hone_tool *tool)
{
    struct hone_err err = HONE_ERR_INIT;
    if (request->revision->is_stateless) {
        answer_missing(request);
        return;
    }
    hone_fail(&err, HONE_E_UNSUPPORTED,
              "%s runs as a task alone (" HONE_MCP_TASKS ", revision 2026-07-28)", tool->name);
    hone_call_fail(request->call, &err);
}

/* The members of a task, whatever carries it. */
static struct hone_json *task_json(const struct hone_job_state *state)
{
    char when[32];
    struct hone_json *task = hone_json_new_object();
    bool has_failed = state->status == HONE_JOB_FAILED && state->code != HONE_OK;
    hone_json_set_str(task, "taskId", state->id);
    hone_json_set_str(task, "status",
                      has_failed     ? "failed"
                      : state->asked ? "input_required"
                                     : words[state->status]);
    if (state->message && state->message[0])
        hone_json_set_str(task, "statusMessage", state->message);
    hone_wall_text(state->created_ms, when);
    hone_json_set_str(task, "createdAt", when);
    hone_wall_text(state->updated_ms, when);
    hone_json_set_str(task, "lastUpdatedAt", when);
    hone_json_set_i64(task, "ttlMs", state->updated_ms - state->created_ms + HONE_JOB_KEEP_MS);
    hone_json_set_i64(task, "pollIntervalMs", POLL_MS);
    return task;
}

/* What the call would have been answered with. */
static void add_outcome(const struct hone_mcp_request *request, const struct hone_job_state *state,
                        struct hone_json *task)
{
    if (state->asked)
        hone_json_set(task, "inputRequests", hone_json_copy(state->asked));
    if (state->status < HONE_JOB_DONE || state->status == HONE_JOB_CANCELLED)
        return;
    if (state->code != HONE_OK) {
        struct hone_json *error = hone_json_new_object();
        hone_json_set_i64(error, "code", hone_rpc_number(state->code));
        hone_json_set_str(error, "message", hone_json_get_str(state->result, "summary", ""));
        hone_json_set(task, "error", error);
        return;
    }
    HONE_AUTOFREE char *text =
        hone_mcp_result_text(request, state->result, state->status == HONE_JOB_FAILED);
    struct hone_json *result = NULL;
    if (text && hone_json_parse(text, strlen(text), &result, NULL) == 0)
        hone_json_set(task, "result", result);
}

const char *hone_mcp_task_start(const struct hone_mcp_request *request,
                                const struct hone_tool *tool, const struct hone_job_spec *spec,
                                struct hone_pool *pool, struct hone_err *err)
{
    struct hone_jobs *jobs = hone_runtime_app(request->mcp->runtime)->jobs;
    HONE_AUTOJSON struct hone_json *own =
        spec->args ? hone_json_copy(spec->args) : hone_json_new_object();
    struct hone_job_spec job = *spec;
    struct hone_job_state state = {.id = NULL};
    const char *id = NULL;
    for (size_t i = 0; i < tool->n_in; i++)
        if (strcmp(tool->in[i].name, "wait") == 0) /* a task is what waits */
            hone_json_set_bool(own, "wait", true);
    job.args = own;
    int rc = jobs->ops->start(jobs, &job, pool, &id, err);
    if (rc == 0)
        rc = jobs->ops->wait(jobs, id, 0, NULL, pool, &state, err);
    if (rc < 0) {
        hone_call_fail(request->call, err);
        return NULL;
    }
    state.status = HONE_JOB_QUEUED; /* even if it has ended: what came out is for tasks/get */
    state.asked = NULL;
    struct hone_json *task = task_json(&state);
    hone_mcp_answer_as(request, task, "task");
    return id;
}

/* ---- methods ---- */

/* The state of the task that is asked for; false: answered. */
static bool find_task(const struct hone_mcp_request *request, struct hone_pool *pool,
                      struct hone_job_state *ret)
{
    struct hone_jobs *jobs = hone_runtime_app(request->mcp->runtime)->jobs;
    const char *id = hone_json_get_str(request->params, "taskId", NULL);
    struct hone_err err = HONE_ERR_INIT;
    if (!knows_tasks(request))
        answer_missing(request);
    else if (!id)
        hone_call_error(request->call, HONE_RPC_PARAMS, "params.taskId must be a string");
    else if (jobs->ops->wait(jobs, id, 0, NULL, pool, ret, &err) < 0)
        hone_call_error(request->call, HONE_RPC_PARAMS, "%s", err.message);
    else
        return true;
    return false;
}

static void get_now(const struct hone_mcp_request *request)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_job_state state;
    if (!find_task(request, pool, &state))
        return;
    struct hone_json *task = task_json(&state);
    add_outcome(request, &state, task);
    hone_mcp_answer(request, task, HONE_MCP_NO_CACHE);
}

void hone_mcp_tasks_get(const struct hone_mcp_request *request)
{
    hone_mcp_on_lane(request, HONE_LANE_QUICK, get_now);
}

/* A viewer's token may look. False: answered. */
static bool may_change(const struct hone_mcp_request *request)
{
    struct hone_err err = HONE_ERR_INIT;
    if (hone_client_role(hone_call_client(request->call)) != HONE_ACCESS_VIEWER)
        return true;
    hone_fail(&err, HONE_E_AUTH, "a viewer's token cancels and answers nothing");
    hone_call_fail(request->call, &err);
    return false;
}

void hone_mcp_tasks_update(const struct hone_mcp_request *request)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_jobs *jobs = hone_runtime_app(request->mcp->runtime)->jobs;
    const struct hone_json *answers = hone_json_get(request->params, "inputResponses");
    struct hone_job_state state;
    struct hone_err err = HONE_ERR_INIT;
    if (!find_task(request, pool, &state) || !may_change(request))
        return;
    if (answers != NULL && (hone_json_type(answers) != HONE_JSON_OBJECT ||
                            hone_json_size(answers) > HONE_LIMIT_RESPONSES))
        hone_call_error(request->call, HONE_RPC_PARAMS,
                        "params.inputResponses must be an object of at most %d members",
                        HONE_LIMIT_RESPONSES);
    else if (answers != NULL && jobs->ops->answer(jobs, state.id, answers, &err) < 0)
        hone_call_error(request->call, HONE_RPC_PARAMS, "%s", err.message);
    else
        hone_mcp_answer(request, hone_json_new_object(), HONE_MCP_NO_CACHE);
}

void hone_mcp_tasks_cancel(const struct hone_mcp_request *request)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_jobs *jobs = hone_runtime_app(request->mcp->runtime)->jobs;
    struct hone_job_state state;
    struct hone_err err = HONE_ERR_INIT;
    if (!find_task(request, pool, &state) || !may_change(request))
        return;
    jobs->ops->cancel(jobs, state.id, &err);
    hone_mcp_answer(request, hone_json_new_object(), HONE_MCP_NO_CACHE);
}
