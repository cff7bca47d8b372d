/* SPDX-License-Identifier: Apache-2.0 */
/* How results are answered: what each revision adds to them, rounds of questions (round.h) with the
 * state that comes back (state.h), pages of lists. And how a method gets to a worker: with a copy of
 * its request, since what it was made from is gone by then. */
#include "server/rpc/mcp_request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "server/exchange/state.h"
#include "server/rpc/mcp_modern.h"
#include "server/rpc/version.h"
#include "workspace/base/clock.h"
#include "workspace/base/limits.h"

static const struct {
    const char *ttl_ms, *scope;
} caches[] = {
    [HONE_MCP_NO_CACHE] = {NULL, NULL},
    [HONE_MCP_CACHE_SHORT] = {"1000", "private"},
    [HONE_MCP_CACHE_LONG] = {"3600000", "public"},
};

static const char result_end[] =
    ",\"resultType\":\"complete\",\"_meta\":{\"io.modelcontextprotocol/serverInfo\":{"
    "\"name\":\"hone\",\"version\":\"" HONE_VERSION "\"}}";

const char *hone_mcp_result_end(const struct hone_mcp_revision *revision)
{
    return revision->is_stateless ? result_end : "";
}

static void set_end(struct hone_json *result, const char *type)
{
    HONE_AUTOJSON struct hone_json *end = NULL;
    HONE_AUTOFREE char *text = hone_sprintf("{%s}", result_end + 1);
    HONE_BUG_ON(hone_json_parse(text, strlen(text), &end, NULL) < 0);
    hone_json_set_str(result, "resultType", type);
    hone_json_set(result, "_meta", hone_json_copy(hone_json_get(end, "_meta")));
}

static void answer(const struct hone_mcp_request *request, struct hone_json *result)
{
    HONE_AUTOFREE char *text = hone_json_print(result);
    hone_json_free(result);
    hone_call_result(request->call, text);
}

void hone_mcp_answer_as(const struct hone_mcp_request *request, struct hone_json *result,
                        const char *type)
{
    set_end(result, type);
    answer(request, result);
}

void hone_mcp_answer(const struct hone_mcp_request *request, struct hone_json *result,
                     enum hone_mcp_cache cache)
{
    if (request->revision->is_stateless) {
        if (caches[cache].ttl_ms != NULL) {
            hone_json_set_i64(result, "ttlMs", strtoll(caches[cache].ttl_ms, NULL, 10));
            hone_json_set_str(result, "cacheScope", caches[cache].scope);
        }
        set_end(result, "complete");
    }
    answer(request, result);
}

/* ---- rounds ---- */

static struct hone_state_call state_call(const struct hone_mcp_request *request, const char *name,
                                         const struct hone_json *arguments)
{
    return (struct hone_state_call){.key = hone_runtime_key(request->mcp->runtime),
                                    .client = hone_client_name(hone_call_client(request->call)),
                                    .method = request->method,
                                    .name = name,
                                    .arguments = arguments};
}

bool hone_mcp_round_open(const struct hone_mcp_request *request, const char *name,
                         const struct hone_json *arguments, struct hone_round *ret)
{
    const struct hone_state_call call = state_call(request, name, arguments);
    const struct hone_json *state = hone_json_get(request->params, "requestState");
    struct hone_json *earlier = NULL;
    struct hone_err err = HONE_ERR_INIT;
    int rc = 0;
    *ret = (struct hone_round){.bad = HONE_ERR_INIT};
    if (state != NULL && hone_json_str(state) == NULL)
        rc = hone_fail(&err, HONE_E_ARG, "params.requestState must be a string");
    else if (state != NULL)
        rc = hone_state_read(&call, hone_json_str(state), hone_now_ns(), &earlier, &err);
    if (rc == 0)
        rc = hone_round_open(ret, request->able, earlier,
                             hone_json_get(request->params, "inputResponses"), &err);
    if (rc < 0)
        hone_call_error(request->call, HONE_RPC_PARAMS, "%s", err.message);
    return rc == 0;
}

void hone_mcp_answer_missing(const struct hone_mcp_request *request,
                             const struct hone_json *capabilities)
{
    HONE_AUTOFREE char *list = hone_json_print(capabilities);
    HONE_AUTOFREE char *data = hone_sprintf("{\"requiredCapabilities\":%s}", list);
    hone_call_error_data(request->call, HONE_MCP_MISSING, data,
                         "the client must declare these capabilities: %.300s", list);
}

const char *hone_mcp_round_answer(const struct hone_mcp_request *request, const char *name,
                                  const struct hone_json *arguments, const struct hone_round *round)
{
    const struct hone_state_call call = state_call(request, name, arguments);
    HONE_AUTOFREE char *state = NULL;
    struct hone_err err = HONE_ERR_INIT;
    if (round->bad.code != HONE_OK) {
        hone_call_error(request->call, HONE_RPC_PARAMS, "%s", round->bad.message);
        return "arg";
    }
    if (hone_json_size(round->needed) > 0) {
        hone_mcp_answer_missing(request, round->needed);
        return "unsupported";
    }
    if (hone_state_make(&call, round->used, hone_now_ns(), &state, &err) < 0) {
        hone_call_fail(request->call, &err);
        return hone_code_name(err.code);
    }
    struct hone_json *result = hone_json_new_object();
    hone_json_set(result, "inputRequests", hone_json_copy(round->asked));
    hone_json_set_str(result, "requestState", state);
    hone_mcp_answer_as(request, result, "input_required");
    return "asks";
}

/* ---- pages ---- */

/* "from-N": opaque to clients. */
static bool read_cursor(const struct hone_json *cursor, size_t n, size_t *ret)
{
    const char *text = hone_json_str(cursor);
    char *end = NULL;
    if (text == NULL || strncmp(text, "from-", 5) != 0)
        return false;
    *ret = strtoul(text + 5, &end, 10);
    return end != text + 5 && *end == '\0' && *ret > 0 && *ret < n;
}

void hone_mcp_answer_page(const struct hone_mcp_request *request, const char *key,
                          struct hone_json *all, enum hone_mcp_cache cache)
{
    HONE_AUTOJSON struct hone_json *owned = all;
    const struct hone_json *cursor = hone_json_get(request->params, "cursor");
    size_t n = hone_json_size(all), first = 0, i = 0;
    size_t page = request->mcp->page_size ? request->mcp->page_size : HONE_MCP_PAGE;
    if (cursor != NULL && !read_cursor(cursor, n, &first)) {
        hone_call_error(
            request->call, HONE_RPC_PARAMS,
            "params.cursor is none that this list gave out; leave it out to start over");
        return;
    }
    struct hone_json *rows = hone_json_new_array();
    for (const struct hone_json *row = hone_json_first(owned); row; row = hone_json_next(row), i++)
        if (i >= first && i < first + page)
            hone_json_push(rows, hone_json_copy(row));
    struct hone_json *result = hone_json_new_object();
    hone_json_set(result, key, rows);
    if (first + page < n) {
        HONE_AUTOFREE char *next = hone_sprintf("from-%zu", first + page);
        hone_json_set_str(result, "nextCursor", next);
    }
    hone_mcp_answer(request, result, cache);
}

/* ---- on a worker ---- */

struct work {
    struct hone_mcp_request request;
    struct hone_json *params;
    char *caller;
    hone_mcp_method_fn *fn;
};

static void work_free(struct work *work)
{
    hone_call_unref(work->request.call);
    hone_json_free(work->params);
    free(work->caller);
    free(work);
}

static void run_work(void *arg)
{
    struct work *work = arg;
    work->fn(&work->request);
    work_free(work);
}

void hone_mcp_on_lane(const struct hone_mcp_request *request, enum hone_lane lane,
                      hone_mcp_method_fn *fn)
{
    struct hone_err err = HONE_ERR_INIT;
    struct work *work = hone_calloc(1, sizeof(*work));
    work->request = *request;
    work->fn = fn;
    work->params = request->params != NULL ? hone_json_copy(request->params) : NULL;
    work->caller = hone_strdup(request->caller);
    work->request.params = work->params;
    if (request->revision->is_stateless) /* its own, no session's */
        work->request.able = hone_mcp_able(work->params);
    work->request.caller = work->caller;
    hone_call_ref(request->call);
    if (hone_workers_submit(hone_runtime_lane(request->mcp->runtime, lane),
                            hone_call_turn(request->call), run_work, work, &err) < 0) {
        hone_call_fail(request->call, &err);
        work_free(work);
    }
}

struct hone_json *hone_mcp_tool_answer(const struct hone_mcp *mcp, const char *caller,
                                       const char *tool, const char *args_json,
                                       struct hone_err *err)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    HONE_AUTOJSON struct hone_json *args = NULL;
    HONE_AUTOJSON struct hone_json *answer = NULL;
    struct hone_tool_ctx ctx = {
        .app = hone_runtime_app(mcp->runtime), .pool = pool, .caller = caller};
    bool is_error = false;
    int rc = hone_json_parse(args_json, strlen(args_json), &args, err);
    if (rc == 0)
        rc = hone_registry_call(&ctx, tool, args, &answer, &is_error, err);
    if (rc == 0 && is_error)
        rc = hone_fail(err, HONE_E_NOT_FOUND, "%s",
                       hone_json_get_str(answer, "summary", "the tool did not answer"));
    return rc == 0 ? HONE_STEAL(answer) : NULL;
}

/* ---- messages for people ---- */

static const char *const levels[] = {"debug", "info",     "notice", "warning",
                                     "error", "critical", "alert",  "emergency"};

int hone_mcp_level_find(const char *word)
{
    for (size_t i = 0; i < HONE_COUNTOF(levels); i++)
        if (strcmp(levels[i], word) == 0)
            return (int)i;
    return -1;
}

void hone_mcp_tell(struct hone_call *call, int wanted, const char *level, const char *text)
{
    if (wanted < 0 || hone_mcp_level_find(level) < wanted)
        return;
    HONE_AUTOJSON struct hone_json *params = hone_json_new_object();
    hone_json_set_str(params, "level", level);
    hone_json_set_str(params, "logger", "hone");
    hone_json_set_str(params, "data", text);
    HONE_AUTOFREE char *json = hone_json_print(params);
    hone_call_notify(call, "notifications/message", json);
}
