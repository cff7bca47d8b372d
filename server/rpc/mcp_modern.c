/* SPDX-License-Identifier: Apache-2.0 */
#include "server/rpc/mcp_modern.h"

#include <stdlib.h>
#include <string.h>
#include "server/rpc/mcp_prompts.h"
#include "server/rpc/mcp_resources.h"
#include "server/rpc/mcp_tasks.h"
#include "server/rpc/mcp_tools.h"
#include "server/rpc/mcp_watch.h"
#include "workspace/base/limits.h"

#define META_VERSION "io.modelcontextprotocol/protocolVersion"
#define META_CLIENT  "io.modelcontextprotocol/clientInfo"
#define META_LEVEL   "io.modelcontextprotocol/logLevel"

const struct hone_mcp_revision hone_mcp_stateless = {
    .name = "2026-07-28", .has_structured = true, .has_annotations = true, .is_stateless = true};

static void discover(const struct hone_mcp_request *request)
{
    struct hone_json *result = hone_json_new_object();
    struct hone_json *versions = hone_json_new_array();
    hone_json_push(versions, hone_json_new_str(hone_mcp_stateless.name));
    hone_json_set(result, "supportedVersions", versions);
    hone_json_set(result, "capabilities", hone_mcp_capabilities(request->revision));
    hone_json_set_str(result, "instructions", hone_mcp_instructions);
    hone_mcp_answer(request, result, HONE_MCP_CACHE_LONG);
}

/* ---- subscriptions ---- */

/* The URIs of the filter that have the form of one of ours. */
static struct hone_json *known_uris(const struct hone_mcp *mcp, const struct hone_json *filter)
{
    struct hone_json *uris = hone_json_new_array();
    const struct hone_json *asked = hone_json_get(filter, "resourceSubscriptions");
    for (const struct hone_json *u = hone_json_first(asked); u != NULL; u = hone_json_next(u))
        if (hone_json_str(u) != NULL && hone_mcp_resource_is_known(mcp, hone_json_str(u)))
            hone_json_push(uris, hone_json_copy(u));
    return uris;
}

/* What was agreed to is said first, under the subscription's id. */
static void listen(const struct hone_mcp_request *request)
{
    const struct hone_json *filter = hone_json_get(request->params, "notifications");
    struct hone_err err = HONE_ERR_INIT;
    if (filter == NULL || hone_json_type(filter) != HONE_JSON_OBJECT) {
        hone_call_error(request->call, HONE_RPC_PARAMS, "params.notifications must be an object");
        return;
    }
    HONE_AUTOJSON struct hone_json *uris = known_uris(request->mcp, filter);
    HONE_AUTOFREE char *list = hone_json_print(uris);
    const char *id_text = hone_call_id(request->call);
    HONE_AUTOFREE char *agreed = hone_sprintf(
        "{\"_meta\":{\"io.modelcontextprotocol/subscriptionId\":%s},\"notifications\":{%s%s}}",
        id_text, hone_json_size(uris) > 0 ? "\"resourceSubscriptions\":" : "",
        hone_json_size(uris) > 0 ? list : "");
    if (hone_json_size(uris) > HONE_LIMIT_SUBSCRIPTIONS) {
        hone_call_error(request->call, HONE_RPC_PARAMS, "at most %d resources in one subscription",
                        HONE_LIMIT_SUBSCRIPTIONS);
        return;
    }
    hone_call_notify(request->call, "notifications/subscriptions/acknowledged", agreed);
    if (hone_mcp_watch_listen(request->mcp, request->call, id_text, uris, &err) < 0)
        hone_call_fail(request->call, &err);
}

static const struct method {
    const char *name;
    hone_mcp_method_fn *run;
} methods[] = {
    {"completion/complete", hone_mcp_complete},
    {"prompts/get", hone_mcp_prompts_get},
    {"prompts/list", hone_mcp_prompts_list},
    {"resources/list", hone_mcp_resources_list},
    {"resources/read", hone_mcp_resources_read},
    {"resources/templates/list", hone_mcp_resources_templates},
    {"server/discover", discover},
    {"subscriptions/listen", listen},
    {"tasks/cancel", hone_mcp_tasks_cancel},
    {"tasks/get", hone_mcp_tasks_get},
    {"tasks/update", hone_mcp_tasks_update},
    {"tools/call", hone_mcp_tools_call},
    {"tools/list", hone_mcp_tools_list},
};

static const struct method *find(const char *method)
{
    for (size_t i = 0; i < HONE_COUNTOF(methods); i++)
        if (strcmp(methods[i].name, method) == 0)
            return &methods[i];
    return NULL;
}

bool hone_mcp_is_modern(const char *method, const struct hone_json *params)
{
    return hone_json_get(hone_json_get(params, "_meta"), META_VERSION) != NULL ||
           strcmp(method, "server/discover") == 0 || strcmp(method, "subscriptions/listen") == 0;
}

struct hone_mcp_refusal hone_mcp_modern_check(const char *method, const struct hone_json *params)
{
    const struct hone_json *meta = hone_json_get(params, "_meta");
    const char *version = hone_json_get_str(meta, META_VERSION, NULL);
    const struct hone_json *able = hone_json_get(meta, HONE_MCP_META_ABLE);
    const char *level = hone_json_get_str(meta, META_LEVEL, "info");
    if (version == NULL)
        return (struct hone_mcp_refusal){HONE_RPC_PARAMS, "params._meta needs " META_VERSION, NULL};
    if (strcmp(version, hone_mcp_stateless.name) != 0)
        return (struct hone_mcp_refusal){HONE_MCP_UNSUPPORTED, "unsupported protocol version",
                                         "\"supported\":[\"2026-07-28\"]"};
    if (able == NULL || hone_json_type(able) != HONE_JSON_OBJECT)
        return (struct hone_mcp_refusal){HONE_RPC_PARAMS, "params._meta needs " HONE_MCP_META_ABLE,
                                         NULL};
    if (hone_mcp_level_find(level) < 0)
        return (struct hone_mcp_refusal){HONE_RPC_PARAMS, META_LEVEL " is no level", NULL};
    if (find(method) == NULL)
        return (struct hone_mcp_refusal){HONE_RPC_METHOD, "no such method in revision 2026-07-28",
                                         NULL};
    return (struct hone_mcp_refusal){0, NULL, NULL};
}

char *hone_mcp_refusal_data(const struct hone_mcp_refusal *refusal, const struct hone_json *params)
{
    if (refusal->data_json == NULL)
        return NULL;
    HONE_AUTOFREE char *asked =
        hone_rpc_quote(hone_json_get_str(hone_json_get(params, "_meta"), META_VERSION, ""));
    return hone_sprintf("{%s,\"requested\":%s}", refusal->data_json, asked);
}

const char *hone_mcp_program(const struct hone_json *params)
{
    return hone_json_get_str(hone_json_get(hone_json_get(params, "_meta"), META_CLIENT), "name",
                             "");
}

const struct hone_json *hone_mcp_able(const struct hone_json *params)
{
    return hone_json_get(hone_json_get(params, "_meta"), HONE_MCP_META_ABLE);
}

void hone_mcp_modern(const struct hone_mcp *mcp, struct hone_call *call, const char *method,
                     const struct hone_json *params)
{
    const struct hone_mcp_refusal refusal = hone_mcp_modern_check(method, params);
    if (refusal.number != 0) {
        HONE_AUTOFREE char *data = hone_mcp_refusal_data(&refusal, params);
        hone_call_error_data(call, refusal.number, data, "%s", refusal.text);
        return;
    }
    const struct method *row = find(method);
    const struct hone_json *meta = hone_json_get(params, "_meta");
    const char *client = hone_mcp_program(params);
    HONE_AUTOFREE char *caller =
        hone_strndup(client[0] != '\0' ? client : mcp->caller, HONE_LIMIT_NAME_BYTES);
    const struct hone_mcp_request request = {
        .mcp = mcp,
        .revision = &hone_mcp_stateless,
        .caller = caller,
        .method = row->name,
        .call = call,
        .params = params,
        .able = hone_mcp_able(params),
        .level = hone_mcp_level_find(hone_json_get_str(meta, META_LEVEL, "")),
    };
    row->run(&request);
}
