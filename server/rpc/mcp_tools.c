/* SPDX-License-Identifier: Apache-2.0 */
/* tools/list and tools/call (mcp_tools.h).
 *
 * Flow of a call: read name, arguments and progress token; ask whether the client may; open its
 * round, if it stands alone; find the tool's lane; queue it; on the worker run it through the
 * registry; note it in the audit log; answer once, as text or structured content, or with what the
 * tool asks.
 * Progress is sent at most four times a second and always rises; where a call says nothing, or
 * waits for a worker, its beat repeats the last one with the time so far. What a protocol revision
 * does not know is left out. */
#include "server/rpc/mcp_tools.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "server/rpc/mcp_tasks.h"
#include "workspace/base/clock.h"
#include "workspace/base/hash.h"
#include "workspace/base/limits.h"
#include "workspace/base/log.h"

/* ---- tools/list ---- */

/* Programs ask for structuredContent and output schemas; models pay for them. */
static bool wants_structured(const struct hone_json *params,
                             const struct hone_mcp_revision *revision)
{
    return revision->has_structured &&
           hone_json_get_bool(hone_json_get(params, "_meta"), HONE_MCP_STRUCTURED, false);
}

/* What is not the protocol's default. */
static struct hone_json *annotations(const struct hone_tool *tool)
{
    struct hone_json *hints = hone_json_new_object();
    if (tool->flags & HONE_TOOL_READ_ONLY)
        hone_json_set_bool(hints, "readOnlyHint", true);
    else
        hone_json_set_bool(hints, "destructiveHint", false);
    if (tool->flags & HONE_TOOL_IDEMPOTENT)
        hone_json_set_bool(hints, "idempotentHint", true);
    hone_json_set_bool(hints, "openWorldHint", false);
    return hints;
}

static struct hone_json *input_schema(const struct hone_tool *tool)
{
    struct hone_json *schema = NULL;
    if (tool->schema == NULL)
        return hone_fields_schema(tool->in, tool->n_in);
    HONE_BUG_ON(hone_json_parse(tool->schema, strlen(tool->schema), &schema, NULL) < 0);
    return schema;
}

struct hone_json *hone_mcp_tool_json(const struct hone_tool *tool,
                                     const struct hone_mcp_revision *revision, bool with_output)
{
    struct hone_json *json = hone_json_new_object();
    hone_json_set_str(json, "name", tool->name);
    if (revision->has_structured)
        hone_json_set_str(json, "title", tool->title);
    hone_json_set_str(json, "description", tool->description ? tool->description : tool->summary);
    hone_json_set(json, "inputSchema", input_schema(tool));
    if (with_output && tool->n_out > 0)
        hone_json_set(json, "outputSchema", hone_fields_schema(tool->out, tool->n_out));
    if (revision->has_annotations)
        hone_json_set(json, "annotations", annotations(tool));
    return json;
}

static bool may_call(const struct hone_call *call, const struct hone_tool *tool)
{
    return hone_client_role(hone_call_client(call)) != HONE_ACCESS_VIEWER ||
           (tool->flags & HONE_TOOL_READ_ONLY) != 0;
}

/* Those that the client may call. */
void hone_mcp_tools_list(const struct hone_mcp_request *request)
{
    const struct hone_registry *registry = hone_runtime_app(request->mcp->runtime)->registry;
    bool is_structured = wants_structured(request->params, request->revision);
    struct hone_json *all = hone_json_new_array();
    for (size_t i = 0; i < hone_registry_count(registry); i++)
        if (may_call(request->call, hone_registry_at(registry, i)))
            hone_json_push(all, hone_mcp_tool_json(hone_registry_at(registry, i), request->revision,
                                                   is_structured));
    hone_mcp_answer_page(request, "tools", all, HONE_MCP_CACHE_LONG);
}

/* ---- tools/call ---- */

#define PROGRESS_GAP_NS (250 * HONE_NS_PER_MS)

struct tool_call { /* one call on its way through a lane */
    const struct hone_mcp *mcp;
    struct hone_call *call;
    const struct hone_cancel *cancel; /* of the call */
    const struct hone_tool *tool;
    struct hone_json *args;
    char *caller;
    const struct hone_mcp_revision *revision;
    const char *method;           /* as in the request */
    const struct hone_json *able; /* of a session */
    struct hone_round round;      /* of a call that stands alone */
    int level;                    /* of messages that the client wants */
    bool is_structured;           /* structuredContent was asked for */
    char *token_text; /* JSON text of the progress token, NULL: none. 0 is a token like any other */
    int64_t start_ns;
    struct hone_beat beat;
    pthread_mutex_t lock; /* the worker and the beat send progress */
    double last_progress; /* lock */
    int64_t last_ns;      /* lock: when it was sent; 0: never */
    char *last_message;   /* lock: what it does */
};

static void tool_call_free(struct tool_call *tc)
{
    hone_beats_remove(hone_runtime_beats(tc->mcp->runtime), &tc->beat);
    pthread_mutex_destroy(&tc->lock);
    hone_client_end(hone_call_client(tc->call));
    hone_call_unref(tc->call);
    hone_round_done(&tc->round);
    hone_json_free(tc->args);
    free(tc->caller);
    free(tc->token_text);
    free(tc->last_message);
    free(tc);
}

/* Called with the lock held. Strictly increasing. */
static void send_progress(struct tool_call *tc, const struct hone_progress *progress)
{
    if (!tc->token_text)
        return;
    double value = progress->done;
    if (!isfinite(value) || value <= tc->last_progress)
        value = tc->last_progress + 0.001;
    tc->last_progress = value;
    HONE_AUTOJSON struct hone_json *params = hone_json_new_object();
    hone_json_set_f64(params, "progress", value);
    if (progress->total > value)
        hone_json_set_f64(params, "total", progress->total);
    if (progress->message && progress->message[0])
        hone_json_set_str(params, "message", progress->message);
    HONE_AUTOFREE char *text = hone_json_print(params);
    HONE_AUTOFREE char *with_token =
        hone_sprintf("{\"progressToken\":%s,%s", tc->token_text, text + 1);
    hone_call_notify(tc->call, "notifications/progress", with_token);
}

/* Called with the lock held. */
static void set_message(struct tool_call *tc, const char *message)
{
    free(tc->last_message);
    tc->last_message = hone_strdup(message);
}

/* Sends at most one in PROGRESS_GAP_NS; who wants debug messages gets its text as one too. The last
 * step (done == total) is left to the answer: a client that reads both at once would drop it. */
static void on_progress(void *arg, const struct hone_progress *progress)
{
    struct tool_call *tc = arg;
    int64_t now = hone_now_ns();
    bool is_last = progress->total > 0 && progress->done >= progress->total;
    pthread_mutex_lock(&tc->lock);
    bool is_sent = !is_last && (tc->last_ns == 0 || now - tc->last_ns >= PROGRESS_GAP_NS);
    bool has_text = progress->message && progress->message[0];
    if (is_sent) {
        tc->last_ns = now;
        set_message(tc, has_text ? progress->message : "running");
        send_progress(tc, progress);
    }
    pthread_mutex_unlock(&tc->lock);
    if (is_sent && has_text) {
        HONE_AUTOFREE char *said = hone_sprintf("%s: %s", tc->tool->name, progress->message);
        hone_mcp_tell(tc->call, tc->level, "debug", said);
    }
}

/* A call that has said nothing for a while says its last words again. A short one is left to its
 * answer. */
static void beat(void *arg)
{
    struct tool_call *tc = arg;
    int64_t now = hone_now_ns();
    pthread_mutex_lock(&tc->lock);
    HONE_AUTOFREE char *said = hone_sprintf("%s, %lld s so far", tc->last_message,
                                            (long long)((now - tc->start_ns) / HONE_NS_PER_S));
    if (now - (tc->last_ns > 0 ? tc->last_ns : tc->start_ns) >= 2 * PROGRESS_GAP_NS)
        send_progress(tc, &(struct hone_progress){.message = said});
    pthread_mutex_unlock(&tc->lock);
}

/* The answer goes once: as text, which every host shows to its model, or where the call asked for
 * it as structuredContent, with the one-line summary as text. An answer with a member `content` is
 * blocks of the protocol's: these alone. Owned, NULL: too large. */
static char *result_text(const struct hone_mcp_revision *revision, bool is_structured,
                         const struct hone_json *content, bool is_error)
{
    HONE_AUTOFREE char *json = hone_json_print(content);
    const struct hone_json *blocks = hone_json_get(content, "content");
    HONE_AUTOFREE char *list = blocks != NULL ? hone_json_print(blocks) : NULL;
    struct hone_buf out = HONE_BUF_INIT;
    hone_buf_str(&out, "{\"content\":");
    if (list != NULL) {
        hone_buf_str(&out, list);
    } else {
        hone_buf_str(&out, "[{\"type\":\"text\",\"text\":");
        hone_json_print_str(&out, is_structured ? hone_json_get_str(content, "summary", "") : json);
        hone_buf_str(&out, "}]");
    }
    if (is_structured) {
        hone_buf_str(&out, ",\"structuredContent\":");
        hone_buf_str(&out, json);
    }
    hone_buf_printf(&out, ",\"isError\":%s%s}", is_error ? "true" : "false",
                    hone_mcp_result_end(revision));
    if (!out.has_failed)
        return hone_buf_steal(&out);
    hone_buf_done(&out);
    return NULL;
}

char *hone_mcp_result_text(const struct hone_mcp_request *request, const struct hone_json *content,
                           bool is_error)
{
    return result_text(request->revision, wants_structured(request->params, request->revision),
                       content, is_error);
}

static void note(const struct tool_call *tc, const char *outcome, const struct hone_json *answer,
                 int64_t wall_ms)
{
    const struct hone_audit_call row = {.client = hone_call_client(tc->call),
                                        .program = tc->caller,
                                        .tool = tc->tool->name,
                                        .outcome = outcome,
                                        .answer = answer,
                                        .wall_ms = wall_ms};
    hone_log(HONE_LOG_INFO, "event=call tool=%s outcome=%s wall_ms=%lld", tc->tool->name, outcome,
             (long long)wall_ms);
    hone_audit_call(tc->mcp->audit, &row);
}

#define ASK_MS (10 * 60 * 1000) /* a person may have to be found */

/* In a session: one request after the other, within the call. */
static int ask_session(struct hone_tool_ctx *ctx, struct hone_ask *asks, size_t n,
                       struct hone_err *err)
{
    struct tool_call *tc = ctx->ask_arg;
    for (size_t i = 0; i < n; i++) {
        HONE_AUTOJSON struct hone_json *answer = NULL;
        bool can = hone_ask_can(tc->able, &asks[i]);
        if (!can && asks[i].is_optional)
            continue;
        if (!can)
            return hone_fail(err, HONE_E_UNSUPPORTED, "the client does not declare %.*s",
                             (int)strcspn(asks[i].method, "/"), asks[i].method);
        int rc = hone_call_ask(tc->call, asks[i].method, asks[i].params_json,
                               hone_deadline_in_ms(ASK_MS), &answer, err);
        if (rc == 0)
            rc = hone_ask_check(asks[i].method, answer, err);
        if (rc < 0)
            return rc;
        hone_ask_fill(&asks[i], answer, ctx->pool);
    }
    return 0;
}

static int ask_round(struct hone_tool_ctx *ctx, struct hone_ask *asks, size_t n,
                     struct hone_err *err)
{
    struct tool_call *tc = ctx->ask_arg;
    return hone_round_ask(&tc->round, ctx->pool, asks, n, err);
}

/* A round that has ended is answered, whatever its tool made of it. True: it had. */
static bool answer_round(struct tool_call *tc, int64_t wall_ms)
{
    const struct hone_mcp_request request = {.mcp = tc->mcp,
                                             .revision = tc->revision,
                                             .method = tc->method,
                                             .caller = tc->caller,
                                             .call = tc->call};
    if (!tc->revision->is_stateless || !hone_round_has_ended(&tc->round))
        return false;
    note(tc, hone_mcp_round_answer(&request, tc->tool->name, tc->args, &tc->round), NULL, wall_ms);
    return true;
}

static void answer_call(const struct tool_call *tc, const struct hone_json *content, bool is_error)
{
    if (tc->level >= 0) {
        HONE_AUTOFREE char *said =
            hone_sprintf("%s: %s", tc->tool->name, hone_json_get_str(content, "summary", ""));
        hone_mcp_tell(tc->call, tc->level, is_error ? "warning" : "info", said);
    }
    HONE_AUTOFREE char *text = result_text(tc->revision, tc->is_structured, content, is_error);
    if (text)
        hone_call_result(tc->call, text);
    else
        hone_call_error(tc->call, hone_rpc_number(HONE_E_LIMIT), "the result of %s is too large",
                        tc->tool->name);
}

static void run_tool(void *arg)
{
    struct tool_call *tc = arg;
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_tool_ctx ctx = {
        .app = hone_runtime_app(tc->mcp->runtime),
        .pool = pool,
        .cancel = tc->cancel,
        .on_progress = on_progress,
        .progress_arg = tc,
        .ask = tc->revision->is_stateless ? ask_round : ask_session,
        .ask_arg = tc,
        .caller = tc->caller,
    };
    struct hone_err err = HONE_ERR_INIT;
    HONE_AUTOJSON struct hone_json *content = NULL;
    bool is_error = false;
    int64_t start_ns = hone_now_ns();
    pthread_mutex_lock(&tc->lock);
    set_message(tc, "running");
    pthread_mutex_unlock(&tc->lock);
    int rc = hone_cancel_is_set(ctx.cancel)
                 ? hone_fail(&err, HONE_E_CANCEL, "cancelled before it started")
                 : hone_registry_call(&ctx, tc->tool->name, tc->args, &content, &is_error, &err);
    int64_t wall_ms = (hone_now_ns() - start_ns) / HONE_NS_PER_MS;
    if (!answer_round(tc, wall_ms)) {
        note(tc, rc < 0 ? hone_code_name(err.code) : is_error ? "error" : "ok", content, wall_ms);
        if (rc < 0)
            hone_call_fail(tc->call, &err);
        else
            answer_call(tc, content, is_error);
    }
    tool_call_free(tc);
}

/* The token's JSON text, or NULL; *ret_is_bad when it is neither string nor integer. */
static char *read_token(const struct hone_json *params, bool *ret_is_bad)
{
    const struct hone_json *token = hone_json_get(hone_json_get(params, "_meta"), "progressToken");
    *ret_is_bad = false;
    if (!token)
        return NULL;
    int64_t number;
    const char *text = hone_json_str(token);
    if (text && strlen(text) <= HONE_LIMIT_RPC_ID_BYTES)
        return hone_json_print(token);
    if (!text && hone_json_type(token) == HONE_JSON_NUMBER && hone_json_as_i64(token, &number))
        return hone_sprintf("%lld", (long long)number);
    *ret_is_bad = true;
    return NULL;
}

/* token_text and the round are moved. */
static void start_tool(const struct hone_mcp_request *request, const struct hone_tool *tool,
                       const struct hone_json *args, char *token_text, struct hone_round *round)
{
    struct hone_err err = HONE_ERR_INIT;
    struct tool_call *tc = hone_calloc(1, sizeof(*tc));
    *tc = (struct tool_call){
        .mcp = request->mcp,
        .revision = request->revision,
        .call = hone_call_ref(request->call),
        .cancel = hone_call_cancel(request->call, &err),
        .tool = tool,
        .args = args ? hone_json_copy(args) : NULL,
        .caller = hone_strdup(request->caller),
        .method = request->method,
        .able = request->able,
        .round = *round,
        .level = request->level,
        .is_structured = wants_structured(request->params, request->revision),
        .token_text = token_text,
        .start_ns = hone_now_ns(),
        .beat = {.fn = beat, .arg = tc},
        .last_progress = -1,
        .last_message = hone_strdup("waiting for a worker"),
    };
    pthread_mutex_init(&tc->lock, NULL);
    if (tc->token_text)
        hone_beats_add(hone_runtime_beats(tc->mcp->runtime), &tc->beat);
    *round = (struct hone_round){.bad = HONE_ERR_INIT};
    struct hone_workers *lane = hone_runtime_lane(request->mcp->runtime, hone_lane_of(tool));
    if (!tc->cancel ||
        hone_workers_submit(lane, hone_call_turn(tc->call), run_tool, tc, &err) < 0) {
        note(tc, hone_code_name(err.code), NULL, 0);
        hone_call_fail(request->call, &err);
        tool_call_free(tc);
    }
}

static void refuse_role(const struct hone_mcp_request *request, const struct hone_tool *tool)
{
    const struct hone_client *client = hone_call_client(request->call);
    const struct hone_audit_call row = {
        .client = client, .program = request->caller, .tool = tool->name, .outcome = "refused"};
    struct hone_err err = HONE_ERR_INIT;
    hone_audit_call(request->mcp->audit, &row);
    hone_fail(&err, HONE_E_AUTH,
              "token %s is a viewer's, which reads; %s needs one of role agent (hone token)",
              hone_client_name(client), tool->name);
    hone_call_fail(request->call, &err);
}

static void note_task(const struct hone_mcp_request *request, const struct hone_tool *tool,
                      const char *outcome, const char *id)
{
    HONE_AUTOJSON struct hone_json *answer = hone_json_new_object();
    const struct hone_audit_call row = {.client = hone_call_client(request->call),
                                        .program = request->caller,
                                        .tool = tool->name,
                                        .outcome = outcome,
                                        .answer = answer};
    if (id)
        hone_json_set_str(answer, "job", id);
    hone_audit_call(request->mcp->audit, &row);
}

/* What the tool asks first is asked in rounds: until all is answered there is no task. */
static void start_task(const struct hone_mcp_request *request, const struct hone_tool *tool,
                       const struct hone_json *args, struct hone_round *round)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_ask *first = hone_pool_alloc(pool, (tool->n_first + 1) * sizeof(*first));
    struct hone_err err = HONE_ERR_INIT;
    for (size_t i = 0; i < tool->n_first; i++)
        first[i] = tool->first[i];
    if (hone_round_ask(round, pool, first, tool->n_first, &err) < 0) {
        note_task(request, tool, hone_mcp_round_answer(request, tool->name, args, round), NULL);
        return;
    }
    const struct hone_job_spec spec = {.tool = tool->name,
                                       .args = args,
                                       .caller = request->caller,
                                       .able = request->able,
                                       .answers = round->used};
    const char *id = hone_mcp_task_start(request, tool, &spec, pool, &err);
    note_task(request, tool, id ? "task" : hone_code_name(err.code), id);
}

/* The tool of a request whose params are as they should be, and that may call it. NULL: answered. */
static const struct hone_tool *find_tool(const struct hone_mcp_request *request, bool is_token_bad)
{
    const struct hone_registry *registry = hone_runtime_app(request->mcp->runtime)->registry;
    const char *name = hone_json_get_str(request->params, "name", NULL);
    const struct hone_json *args = hone_json_get(request->params, "arguments");
    const struct hone_tool *tool = name ? hone_registry_find(registry, name) : NULL;
    struct hone_call *call = request->call;
    if (!name)
        hone_call_error(call, HONE_RPC_PARAMS, "params.name must be the name of a tool");
    else if (!tool)
        hone_call_error(call, HONE_RPC_PARAMS, "no tool '%.100s'; tools/list names them", name);
    else if (args && hone_json_type(args) != HONE_JSON_OBJECT)
        hone_call_error(call, HONE_RPC_PARAMS, "params.arguments must be an object");
    else if (is_token_bad)
        hone_call_error(call, HONE_RPC_PARAMS,
                        "params._meta.progressToken must be a string or an integer");
    else if (!may_call(call, tool))
        refuse_role(request, tool);
    else if (!hone_mcp_may_wait(request, tool))
        hone_mcp_refuse_task(request, tool);
    else
        return tool;
    return NULL;
}

void hone_mcp_tools_call(const struct hone_mcp_request *request)
{
    const struct hone_json *args = hone_json_get(request->params, "arguments");
    bool is_bad_token;
    HONE_AUTOFREE char *token_text = read_token(request->params, &is_bad_token);
    const struct hone_tool *tool = find_tool(request, is_bad_token);
    HONE_CLEANUP(hone_round_done) struct hone_round round = {.bad = HONE_ERR_INIT};
    struct hone_err err = HONE_ERR_INIT;
    if (!tool)
        return;
    if (request->revision->is_stateless && !hone_mcp_round_open(request, tool->name, args, &round))
        return;
    if (hone_mcp_wants_task(request, tool))
        start_task(request, tool, args, &round);
    else if (hone_client_begin(hone_call_client(request->call), &err) < 0)
        hone_call_fail(request->call, &err);
    else
        start_tool(request, tool, args, HONE_STEAL(token_text), &round);
}
