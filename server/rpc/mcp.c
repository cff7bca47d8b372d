/* SPDX-License-Identifier: Apache-2.0 */
#include "server/rpc/mcp.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "server/rpc/mcp_tools.h"
#include "server/rpc/version.h"
#include "workspace/base/limits.h"
#include "workspace/base/log.h"

static const struct hone_mcp_revision revisions[] = {
    {.name = "2025-11-25", .has_structured = true, .has_annotations = true, .has_priming = true},
    {.name = "2025-06-18", .has_structured = true, .has_annotations = true},
    {.name = "2025-03-26", .allows_batch = true, .has_annotations = true},
    {.name = "2024-11-05"},
};

const struct hone_mcp_revision *hone_mcp_newest(void)
{
    return &revisions[0];
}

const struct hone_mcp_revision *hone_mcp_revision(const char *name)
{
    for (size_t i = 0; i < HONE_COUNTOF(revisions); i++)
        if (strcmp(revisions[i].name, name) == 0)
            return &revisions[i];
    return NULL;
}

struct session { /* touched by one message at a time (peer.h): no lock */
    const struct hone_mcp *mcp;
    struct hone_peer *peer;
    const struct hone_mcp_revision *revision; /* NULL before initialize */
    char *client;
};

static const char instructions[] =
    "hone makes compute kernels fast and proves it. Start with task_show (what to compute, the C "
    "signature, the sizes) and "
    "device_info. kernel_evaluate builds, verifies and times one source file and returns a "
    "verdict; every version becomes a git "
    "commit. kernel_profile says what limits a version; strategy_propose suggests the next step; "
    "search_start runs the built-in "
    "search, job_wait waits for it. Only figures of the confirm tier are results.";

static struct hone_json *server_info(const struct hone_mcp_revision *revision)
{
    struct hone_json *info = hone_json_new_object();
    hone_json_set_str(info, "name", "hone");
    if (revision->has_structured)
        hone_json_set_str(info, "title", "hone: kernel optimisation tools");
    hone_json_set_str(info, "version", HONE_VERSION);
    return info;
}

static void answer(struct hone_call *call, struct hone_json *result)
{
    HONE_AUTOJSON struct hone_json *owned = result;
    HONE_AUTOFREE char *text = hone_json_print(owned);
    hone_call_result(call, text);
}

static void initialize(struct session *session, struct hone_call *call,
                       const struct hone_json *params)
{
    const char *asked = hone_json_get_str(params, "protocolVersion", NULL);
    if (session->revision) {
        hone_call_error(call, HONE_RPC_INVALID, "this connection is initialized already");
        return;
    }
    if (!asked) {
        hone_call_error(call, HONE_RPC_PARAMS,
                        "params.protocolVersion must be a string such as \"%s\"",
                        hone_mcp_newest()->name);
        return;
    }
    const struct hone_mcp_revision *revision = hone_mcp_revision(asked);
    session->revision = revision ? revision : hone_mcp_newest();
    const char *client = hone_json_get_str(hone_json_get(params, "clientInfo"), "name", "");
    if (client[0])
        session->client = hone_strndup(client, HONE_LIMIT_NAME_BYTES);
    struct hone_json *result = hone_json_new_object();
    hone_json_set_str(result, "protocolVersion", session->revision->name);
    struct hone_json *tools = hone_json_new_object();
    hone_json_set_bool(tools, "listChanged", false);
    struct hone_json *capabilities = hone_json_new_object();
    hone_json_set(capabilities, "tools", tools);
    hone_json_set(result, "capabilities", capabilities);
    hone_json_set(result, "serverInfo", server_info(session->revision));
    hone_json_set_str(result, "instructions", instructions);
    hone_log(HONE_LOG_INFO, "event=session client=%s revision=%s",
             session->client ? session->client : "-", session->revision->name);
    answer(call, result);
}

static void ping(struct session *session, struct hone_call *call, const struct hone_json *params)
{
    (void)session;
    (void)params;
    hone_call_result(call, "{}");
}

static void tools_list(struct session *session, struct hone_call *call,
                       const struct hone_json *params)
{
    hone_mcp_tools_list(session->mcp, session->revision, call, params);
}

static void tools_call(struct session *session, struct hone_call *call,
                       const struct hone_json *params)
{
    const char *caller = session->client ? session->client : session->mcp->caller;
    hone_mcp_tools_call(session->mcp, session->revision, caller, call, params);
}

static const struct method {
    const char *name;
    bool before_initialize;
    void (*run)(struct session *session, struct hone_call *call, const struct hone_json *params);
} methods[] = {
    {"initialize", true, initialize},
    {"ping", true, ping},
    {"tools/call", false, tools_call},
    {"tools/list", false, tools_list},
};

static void cancelled(struct session *session, const struct hone_json *params)
{
    const struct hone_json *id = hone_json_get(params, "requestId");
    if (!id || hone_json_type(id) == HONE_JSON_NULL)
        return;
    HONE_AUTOFREE char *id_text = hone_json_print(id);
    hone_peer_cancel(session->peer, id_text);
}

static const struct notification {
    const char *name;
    void (*run)(struct session *session, const struct hone_json *params);
} notifications[] = {
    {"notifications/cancelled", cancelled},
};

static void *session_open(const void *arg, struct hone_peer *peer)
{
    struct session *session = hone_calloc(1, sizeof(*session));
    session->mcp = arg;
    session->peer = peer;
    return session;
}

static void session_close(void *state)
{
    struct session *session = state;
    free(session->client);
    free(session);
}

static void on_request(void *state, struct hone_call *call, const char *method,
                       const struct hone_json *params)
{
    struct session *session = state;
    const struct method *row = NULL;
    for (size_t i = 0; i < HONE_COUNTOF(methods) && !row; i++)
        if (strcmp(methods[i].name, method) == 0)
            row = &methods[i];
    if (!row)
        hone_call_error(call, HONE_RPC_METHOD, "no method '%.100s'", method);
    else if (!row->before_initialize && !session->revision)
        hone_call_error(call, HONE_RPC_INVALID, "send initialize before %s", method);
    else
        row->run(session, call, params);
}

/* Unknown notifications and ones that need no action (notifications/initialized) fall through: a
 * notification is never answered. */
static void on_notification(void *state, const char *method, const struct hone_json *params)
{
    struct session *session = state;
    for (size_t i = 0; i < HONE_COUNTOF(notifications); i++)
        if (strcmp(notifications[i].name, method) == 0)
            notifications[i].run(session, params);
}

static bool allows_batch(void *state)
{
    const struct session *session = state;
    return session->revision && session->revision->allows_batch;
}

const struct hone_handler hone_mcp_handler = {
    .open = session_open,
    .close = session_close,
    .on_request = on_request,
    .on_notification = on_notification,
    .allows_batch = allows_batch,
};
