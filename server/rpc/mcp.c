/* SPDX-License-Identifier: Apache-2.0 */
/* The handshake's methods and the table of all; requests of the other era leave at on_request. */
#include "server/rpc/mcp.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "server/rpc/mcp_modern.h"
#include "server/rpc/mcp_prompts.h"
#include "server/rpc/mcp_resources.h"
#include "server/rpc/mcp_tools.h"
#include "server/rpc/mcp_watch.h"
#include "server/rpc/version.h"
#include "workspace/base/clock.h"
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
    struct hone_mcp_watch *watch;             /* NULL: nothing was subscribed to yet */
    char *client;
    struct hone_json *able; /* what the client says it can do */
    int level;              /* of messages that the client wants; -1: none */
};

const char hone_mcp_instructions[] =
    "hone makes compute kernels fast and proves it. Start with task_show (what to compute, the C "
    "signature, the sizes) and device_info. kernel_evaluate builds, verifies and times one source "
    "file and returns a verdict; every version becomes a git commit. kernel_profile says what "
    "limits a version; strategy_propose suggests the next step; search_start runs the built-in "
    "search, job_wait waits for it. Only figures of the confirm tier are results. Arguments that "
    "recur: task (a name), target (cpu or cuda), source (the whole file) or commit (a version, id "
    "or prefix), parent (the version you edited), detail (concise, normal, full: up to 1, 4, 60 "
    "KB). Whole texts: resources such as hone://version/COMMIT/source?lines=1-40; the "
    "manual: hone://docs/NAME (verdict, tasks, tools...).";

struct hone_json *hone_mcp_capabilities(const struct hone_mcp_revision *revision)
{
    static const char legacy[] =
        "{\"tools\":{\"listChanged\":false},\"resources\":{\"subscribe\":true,\"listChanged\":"
        "false}"
        ",\"prompts\":{\"listChanged\":false},\"completions\":{},\"logging\":{}}";
    static const char stateless[] =
        "{\"tools\":{},\"resources\":{\"subscribe\":true},"
        "\"prompts\":{},\"completions\":{},\"logging\":{},\"extensions\":{"
        "\"io.modelcontextprotocol/tasks\":{}}}";
    const char *text = revision->is_stateless ? stateless : legacy;
    struct hone_json *capabilities = NULL;
    HONE_BUG_ON(hone_json_parse(text, strlen(text), &capabilities, NULL) < 0);
    return capabilities;
}

static struct hone_json *server_info(const struct hone_mcp_revision *revision)
{
    struct hone_json *info = hone_json_new_object();
    hone_json_set_str(info, "name", "hone");
    if (revision->has_structured)
        hone_json_set_str(info, "title", "hone: kernel optimisation tools");
    hone_json_set_str(info, "version", HONE_VERSION);
    return info;
}

/* ---- the session's own methods ---- */

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
    if (hone_json_get(params, "capabilities") != NULL)
        session->able = hone_json_copy(hone_json_get(params, "capabilities"));
    if (client[0])
        session->client = hone_strndup(client, HONE_LIMIT_NAME_BYTES);
    HONE_AUTOJSON struct hone_json *result = hone_json_new_object();
    hone_json_set_str(result, "protocolVersion", session->revision->name);
    hone_json_set(result, "capabilities", hone_mcp_capabilities(session->revision));
    hone_json_set(result, "serverInfo", server_info(session->revision));
    hone_json_set_str(result, "instructions", hone_mcp_instructions);
    hone_log(HONE_LOG_INFO, "event=session client=%s revision=%s",
             session->client ? session->client : "-", session->revision->name);
    HONE_AUTOFREE char *text = hone_json_print(result);
    hone_call_result(call, text);
}

static void ping(struct session *session, struct hone_call *call, const struct hone_json *params)
{
    (void)session;
    (void)params;
    hone_call_result(call, "{}");
}

static void set_level(struct session *session, struct hone_call *call,
                      const struct hone_json *params)
{
    int level = hone_mcp_level_find(hone_json_get_str(params, "level", ""));
    if (level < 0) {
        hone_call_error(call, HONE_RPC_PARAMS,
                        "params.level must be one of debug, info, notice, warning, error, "
                        "critical, alert, emergency");
        return;
    }
    session->level = level;
    hone_call_result(call, "{}");
}

static void answer_no_resource(struct session *session, struct hone_call *call, const char *uri)
{
    const struct hone_mcp_request request = {
        .mcp = session->mcp, .revision = session->revision, .call = call};
    hone_mcp_no_resource(&request, uri, "resources/templates/list has the forms");
}

static void subscribe(struct session *session, struct hone_call *call,
                      const struct hone_json *params)
{
    const char *uri = hone_json_get_str(params, "uri", "");
    struct hone_err err = HONE_ERR_INIT;
    if (!hone_mcp_resource_is_known(session->mcp, uri)) {
        answer_no_resource(session, call, uri);
        return;
    }
    if (!session->watch)
        session->watch = hone_mcp_watch_new(session->mcp, session->peer);
    if (hone_mcp_watch_add(session->watch, uri, &err) < 0)
        hone_call_fail(call, &err);
    else
        hone_call_result(call, "{}");
}

static void unsubscribe(struct session *session, struct hone_call *call,
                        const struct hone_json *params)
{
    const char *uri = hone_json_get_str(params, "uri", "");
    if (!hone_mcp_resource_is_known(session->mcp, uri)) {
        answer_no_resource(session, call, uri);
        return;
    }
    if (session->watch)
        hone_mcp_watch_remove(session->watch, uri);
    hone_call_result(call, "{}");
}

static const struct method { /* one of the two functions */
    const char *name;
    bool before_initialize;
    void (*run)(struct session *session, struct hone_call *call, const struct hone_json *params);
    hone_mcp_method_fn *shared; /* with the other era */
} methods[] = {
    {"completion/complete", false, NULL, hone_mcp_complete},
    {"initialize", true, initialize, NULL},
    {"logging/setLevel", false, set_level, NULL},
    {"ping", true, ping, NULL},
    {"prompts/get", false, NULL, hone_mcp_prompts_get},
    {"prompts/list", false, NULL, hone_mcp_prompts_list},
    {"resources/list", false, NULL, hone_mcp_resources_list},
    {"resources/read", false, NULL, hone_mcp_resources_read},
    {"resources/subscribe", false, subscribe, NULL},
    {"resources/templates/list", false, NULL, hone_mcp_resources_templates},
    {"resources/unsubscribe", false, unsubscribe, NULL},
    {"tools/call", false, NULL, hone_mcp_tools_call},
    {"tools/list", false, NULL, hone_mcp_tools_list},
};

static void run_method(struct session *session, const struct method *row, struct hone_call *call,
                       const struct hone_json *params)
{
    if (row->run) {
        row->run(session, call, params);
        return;
    }
    const struct hone_mcp_request request = {
        .mcp = session->mcp,
        .revision = session->revision,
        .caller = session->client ? session->client : session->mcp->caller,
        .method = row->name,
        .call = call,
        .params = params,
        .able = session->able,
        .level = session->level,
    };
    row->shared(&request);
}

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
    session->level = -1;
    return session;
}

static void session_close(void *state)
{
    struct session *session = state;
    hone_mcp_watch_free(session->watch);
    free(session->client);
    hone_json_free(session->able);
    free(session);
}

static void on_request(void *state, struct hone_call *call, const char *method,
                       const struct hone_json *params)
{
    struct session *session = state;
    const struct method *row = NULL;
    struct hone_err err = HONE_ERR_INIT;
    if (hone_client_request(hone_call_client(call), hone_now_ns(), &err) < 0) {
        hone_call_fail(call, &err);
        return;
    }
    if (hone_mcp_is_modern(method, params)) {
        hone_mcp_modern(session->mcp, call, method, params);
        return;
    }
    for (size_t i = 0; i < HONE_COUNTOF(methods) && !row; i++)
        if (strcmp(methods[i].name, method) == 0)
            row = &methods[i];
    if (!row)
        hone_call_error(call, HONE_RPC_METHOD, "no method '%.100s'", method);
    else if (!row->before_initialize && !session->revision)
        hone_call_error(call, HONE_RPC_INVALID, "send initialize before %s", method);
    else
        run_method(session, row, call, params);
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
