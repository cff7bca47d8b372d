/* SPDX-License-Identifier: Apache-2.0 */
/* The extension io.modelcontextprotocol/tasks of revision 2026-07-28: a call of a long tool that needs
 * the device is answered with a task at once, where the request says that its client knows tasks.
 * A task is a background job (jobs.h) and has the job's id, so job_wait and the resource of jobs show
 * it too. A tool that asks its client while a task runs waits for tasks/update; until then the task is
 * input_required. */
#ifndef HONE_SERVER_MCP_TASKS_H
#define HONE_SERVER_MCP_TASKS_H

#include "server/rpc/mcp_request.h"

#define HONE_MCP_TASKS "io.modelcontextprotocol/tasks"

hone_mcp_method_fn hone_mcp_tasks_get;
hone_mcp_method_fn hone_mcp_tasks_update;
hone_mcp_method_fn hone_mcp_tasks_cancel;

/* True where this call should become a task. */
bool hone_mcp_wants_task(const struct hone_mcp_request *request, const struct hone_tool *tool);
/* False for a tool that runs as a task alone and a client that knows none; hone_mcp_refuse_task says
 * so. */
bool hone_mcp_may_wait(const struct hone_mcp_request *request, const struct hone_tool *tool);
void hone_mcp_refuse_task(const struct hone_mcp_request *request, const struct hone_tool *tool);
/* Starts it and answers. The job's id, in the pool; NULL: refused. */
const char *hone_mcp_task_start(const struct hone_mcp_request *request,
                                const struct hone_tool *tool, const struct hone_job_spec *spec,
                                struct hone_pool *pool, struct hone_err *err);

#endif
