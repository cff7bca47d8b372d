/* SPDX-License-Identifier: Apache-2.0 */
/* MCP's Streamable HTTP at http://HOST:PORT/mcp, on the loop of net_ws.c.
 *
 *   POST   one message. A notification gets 202. A request gets its answer as application/json; if
 *          something has to be sent before it (progress), or it takes longer than DECIDE_US, the
 *          answer becomes a stream of events (text/event-stream) that ends with it.
 *   GET    with Last-Event-ID: the rest of a stream whose connection broke. Without: the standing
 *          stream, for what belongs to no request (resources that changed).
 *   DELETE ends the session of header Mcp-Session-Id, which the answer to initialize gave.
 *
 * A request of revision 2026-07-28 stands alone: it gets a session of its own, which nobody else can
 * name and which ends with the connection, so that hanging up cancels.
 *
 * A connection carries one request and ends with its answer. That costs a client a connection per
 * call, and it leaves the library no second request to read while an answer is on its way.
 *
 * States of a connection: HEAD (nothing read), BODY, WAITING (the peer has the message), EVENTS (a
 * stream was begun), ENDING (what is in `out` is the last). Memory of the library holds the state:
 * it is zero at first, and release() may come twice. */
#include <ctype.h>
#include <libwebsockets.h>
#include <stdlib.h>
#include <string.h>

#include "server/exchange/mirror.h"
#include "server/rpc/mcp_modern.h"
#include "server/rpc/net_internal.h"
#include "workspace/base/clock.h"

#define DECIDE_US     (300 * 1000)        /* an answer that takes longer becomes a stream */
#define BODY_US       (20 * 1000 * 1000L) /* for the whole body: the library counts from piece to piece */
#define KEEP_ALIVE_US (15 * 1000 * 1000L) /* a comment, so that nobody between gives up */

enum phase { HEAD, BODY, WAITING, EVENTS, ENDING };

struct http_conn {
    struct lws *wsi;
    enum phase phase;
    struct hone_buf body, out; /* out: not yet written from n_sent on */
    size_t length, n_sent;
    struct hone_http_stream *stream; /* NULL: none, or gone */
    bool is_initialize;
};

size_t hone_net_http_conn_bytes(void)
{
    return sizeof(struct http_conn);
}

static void release(struct lws *wsi, struct http_conn *conn)
{
    if (conn == NULL)
        return;
    struct hone_http_stream *stream = HONE_STEAL(conn->stream);
    struct hone_http_session *session = stream != NULL ? stream->session : NULL;
    if (stream != NULL)
        hone_http_stream_leave(hone_net_of(wsi)->sessions, stream);
    if (session != NULL && session->is_single)
        hone_http_end(hone_net_of(wsi)->sessions, session);
    hone_buf_done(&conn->body);
    hone_buf_done(&conn->out);
    conn->phase = HEAD;
}

/* ---- answers ---- */

static void head_of(struct http_conn *conn, const char *status, const char *type)
{
    const struct hone_http_session *session = conn->stream != NULL ? conn->stream->session : NULL;
    hone_buf_printf(&conn->out,
                    "HTTP/1.1 %s\r\nContent-Type: %s\r\nCache-Control: no-cache\r\n"
                    "X-Accel-Buffering: no\r\nConnection: close\r\n",
                    status, type);
    if (conn->is_initialize && session != NULL)
        hone_buf_printf(&conn->out, "Mcp-Session-Id: %s\r\n", session->id);
}

static void begin_events(struct http_conn *conn)
{
    head_of(conn, "200 OK", "text/event-stream");
    hone_buf_str(&conn->out, "\r\n");
    conn->phase = EVENTS;
    conn->stream->is_resumable = !conn->stream->session->is_single;
    if (conn->stream->session->has_events && conn->stream->n_shown == 0)
        hone_buf_printf(&conn->out, "id: %llu-0\ndata:\n\n",
                        (unsigned long long)conn->stream->number);
    lws_set_timer_usecs(conn->wsi, KEEP_ALIVE_US);
}

/* Errors of a method that have a status of their own, where a request stands alone. */
static const char *answer_status(const struct http_conn *conn, const struct hone_http_event *event)
{
    bool is_refused = conn->stream->session->is_single && event->error_number == HONE_MCP_MISSING;
    return is_refused ? "400 Bad Request" : "200 OK";
}

static void answer_json(struct http_conn *conn, const struct hone_http_event *event)
{
    head_of(conn, answer_status(conn, event), "application/json");
    hone_buf_printf(&conn->out, "Content-Length: %zu\r\n\r\n", event->len);
    hone_buf_add(&conn->out, event->text, event->len);
    conn->stream->n_shown = event->seq;
    conn->phase = ENDING;
}

/* The revision that was agreed on is in the answer to initialize. */
static void note_revision(struct hone_http_session *session, const struct hone_http_event *event)
{
    HONE_AUTOJSON struct hone_json *answer = NULL;
    if (hone_json_parse(event->text, event->len, &answer, NULL) < 0)
        return;
    const struct hone_mcp_revision *revision = hone_mcp_revision(
        hone_json_get_str(hone_json_get(answer, "result"), "protocolVersion", ""));
    session->has_events = revision != NULL && revision->has_priming;
}

/* Moves what the stream has to `out`. */
static void take_events(struct http_conn *conn)
{
    struct hone_http_stream *stream = conn->stream;
    const struct hone_http_event *event = hone_http_stream_next(stream);
    if (event != NULL && event->is_answer && conn->is_initialize)
        note_revision(stream->session, event);
    if (conn->phase == WAITING && event != NULL && event->is_answer) {
        answer_json(conn, event);
        return;
    }
    if (conn->phase == WAITING && (event != NULL || stream->is_done))
        begin_events(conn);
    for (; event != NULL && conn->out.len < HONE_NET_CHUNK; event = hone_http_stream_next(stream)) {
        if (stream->is_resumable)
            hone_buf_printf(&conn->out, "id: %llu-%llu\n", (unsigned long long)stream->number,
                            (unsigned long long)event->seq);
        hone_buf_str(&conn->out, "data: ");
        hone_buf_add(&conn->out, event->text, event->len);
        hone_buf_str(&conn->out, "\n\n");
        stream->n_shown = event->seq;
    }
    if (conn->phase == EVENTS && stream->is_done && event == NULL)
        conn->phase = ENDING;
}

static int write_part(struct http_conn *conn)
{
    const struct hone_ws *ws = hone_net_of(conn->wsi);
    size_t left = conn->out.len - conn->n_sent;
    size_t part = left < HONE_NET_CHUNK ? left : HONE_NET_CHUNK;
    memcpy(ws->chunk + LWS_PRE, conn->out.data + conn->n_sent, part);
    if (lws_write(conn->wsi, ws->chunk + LWS_PRE, part, LWS_WRITE_HTTP) < (int)part)
        return -1;
    conn->n_sent += part;
    if (conn->n_sent == conn->out.len) {
        hone_buf_drop(&conn->out, conn->out.len);
        conn->n_sent = 0;
    }
    return 0;
}

static int writable(struct http_conn *conn)
{
    if (conn->out.len == 0 && conn->stream != NULL &&
        (conn->phase == WAITING || conn->phase == EVENTS))
        take_events(conn);
    if (hone_buf_check(&conn->out, NULL) < 0)
        return -1;
    if (conn->out.len > 0 && write_part(conn) < 0)
        return -1;
    if (conn->out.len == 0 && conn->phase == ENDING)
        return -1;
    if (conn->out.len > 0 || conn->phase == ENDING ||
        (conn->phase == EVENTS && hone_http_stream_next(conn->stream) != NULL))
        lws_callback_on_writable(conn->wsi);
    return 0;
}

static int timer(struct http_conn *conn)
{
    if (conn->phase == BODY)
        return -1;
    if (conn->phase == WAITING && conn->stream != NULL) {
        begin_events(conn);
    } else if (conn->phase == EVENTS) {
        if (conn->out.len == 0)
            hone_buf_str(&conn->out, ":\n\n");
        lws_set_timer_usecs(conn->wsi, KEEP_ALIVE_US);
    }
    lws_callback_on_writable(conn->wsi);
    return 0;
}

static void wake(void *reader)
{
    struct http_conn *conn = reader;
    lws_callback_on_writable(conn->wsi);
}

static void gone(void *reader)
{
    struct http_conn *conn = reader;
    conn->stream = NULL;
    lws_set_timeout(conn->wsi, PENDING_TIMEOUT_USER_REASON_BASE, LWS_TO_KILL_ASYNC);
}

struct hone_http_sessions *hone_net_http_sessions(void)
{
    const struct hone_http_hooks hooks = {.wake = wake, .gone = gone};
    return hone_http_sessions_new(&hooks);
}

/* ---- heads ---- */

static int no_content(struct lws *wsi, struct http_conn *conn, const char *status)
{
    hone_buf_printf(&conn->out, "HTTP/1.1 %s\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
                    status);
    conn->phase = ENDING;
    lws_callback_on_writable(wsi);
    return 0;
}

/* A comma list of media types with parameters, whatever the order; absent: anything. */
static bool accepts(struct lws *wsi)
{
    HONE_AUTOFREE char *accept = hone_net_header(wsi, WSI_TOKEN_HTTP_ACCEPT);
    return accept == NULL || strstr(accept, "*/*") != NULL ||
           (strstr(accept, "application/json") != NULL &&
            strstr(accept, "text/event-stream") != NULL);
}

static bool is_json(struct lws *wsi)
{
    HONE_AUTOFREE char *type = hone_net_header(wsi, WSI_TOKEN_HTTP_CONTENT_TYPE);
    static const char want[] = "application/json";
    size_t len = sizeof(want) - 1;
    return type != NULL && strncasecmp(type, want, len) == 0 &&
           (type[len] == '\0' || type[len] == ';' || type[len] == ' ');
}

/* 0, or the status of a refusal. Digits alone: "1,  2" is what the library makes of two. */
static unsigned read_length(struct lws *wsi, size_t *ret)
{
    HONE_AUTOFREE char *text = hone_net_header(wsi, WSI_TOKEN_HTTP_CONTENT_LENGTH);
    if (text == NULL)
        return 411;
    if (text[0] == '\0' || strspn(text, "0123456789") != strlen(text))
        return 400;
    if (strlen(text) > 9)
        return 413;
    *ret = (size_t)strtoul(text, NULL, 10);
    return *ret > HONE_LIMIT_WS_MESSAGE_BYTES ? 413 : *ret == 0 ? 400 : 0;
}

static int begin_post(struct lws *wsi, struct http_conn *conn)
{
    HONE_AUTOFREE char *encoding = hone_net_header(wsi, WSI_TOKEN_HTTP_TRANSFER_ENCODING);
    unsigned status = encoding != NULL ? 411 : read_length(wsi, &conn->length);
    if (status != 0)
        return hone_net_refuse(wsi, status, NULL,
                               "the body is one JSON-RPC message with a Content-Length, at most "
                               "4 MiB; chunked bodies are not read");
    if (!is_json(wsi))
        return hone_net_refuse(wsi, 415, NULL, "Content-Type must be application/json");
    if (!accepts(wsi))
        return hone_net_refuse(wsi, 406, NULL,
                               "Accept must name application/json and text/event-stream");
    conn->phase = BODY;
    lws_set_timer_usecs(wsi, BODY_US);
    conn->body.limit = HONE_LIMIT_WS_MESSAGE_BYTES + 1;
    return 0;
}

/* The session that the request names; NULL: it was refused with *ret. id_text: of the request. */
static struct hone_http_session *session_of(struct lws *wsi, const char *id_text, int *ret)
{
    HONE_AUTOFREE char *id = hone_net_custom_header(wsi, "mcp-session-id:");
    struct hone_http_session *session =
        id != NULL ? hone_http_find(hone_net_of(wsi)->sessions, id, hone_now_ns()) : NULL;
    if (session != NULL && session->client != hone_net_client(wsi))
        session = NULL;
    if (id == NULL)
        *ret = hone_net_refuse(wsi, 400, id_text,
                               "send initialize first, then its answer's Mcp-Session-Id with every "
                               "request");
    else if (session == NULL)
        *ret = hone_net_refuse(wsi, 404, id_text,
                               "no such session: it ended, or the server was started anew; send "
                               "initialize again");
    return session;
}

static bool is_known_revision(struct lws *wsi)
{
    HONE_AUTOFREE char *name = hone_net_custom_header(wsi, "mcp-protocol-version:");
    return name == NULL || hone_mcp_revision(name) != NULL;
}

/* A new reader takes the place of the old one. */
static struct hone_http_stream *standing_stream(struct hone_http_sessions *sessions,
                                                struct hone_http_session *session)
{
    struct hone_http_stream *stream = session->streams;
    while (stream != NULL && strcmp(stream->call_id, HONE_HTTP_STANDING) != 0)
        stream = stream->next;
    if (stream != NULL) {
        gone(stream->reader);
        hone_http_stream_leave(sessions, stream);
    }
    return hone_http_stream_open(session, HONE_HTTP_STANDING, &stream, NULL) == 0 ? stream : NULL;
}

static int resume(struct lws *wsi, struct http_conn *conn)
{
    int rc = -1;
    HONE_AUTOFREE char *event = hone_net_custom_header(wsi, "last-event-id:");
    HONE_AUTOFREE char *id = hone_net_custom_header(wsi, "mcp-session-id:");
    if (id == NULL)
        return hone_net_refuse(wsi, 405, NULL,
                               "GET upgrades to WebSocket, or reads a stream of a session");
    struct hone_http_session *session = session_of(wsi, NULL, &rc);
    if (session == NULL)
        return rc;
    struct hone_http_stream *stream = event != NULL
                                          ? hone_http_stream_resume(session, event)
                                          : standing_stream(hone_net_of(wsi)->sessions, session);
    if (stream == NULL || (stream->is_done && hone_http_stream_next(stream) == NULL))
        return hone_net_refuse(wsi, 405, NULL, "that stream is over, or never was");
    if (stream->reader != NULL)
        gone(stream->reader);
    stream->reader = conn;
    conn->stream = stream;
    lws_set_timeout(wsi, NO_PENDING_TIMEOUT, 0);
    begin_events(conn);
    lws_callback_on_writable(wsi);
    return 0;
}

static int end_session(struct lws *wsi, struct http_conn *conn)
{
    int rc = -1;
    struct hone_http_session *session = session_of(wsi, NULL, &rc);
    if (session == NULL)
        return rc;
    hone_http_end(hone_net_of(wsi)->sessions, session);
    return no_content(wsi, conn, "204 No Content");
}

static int on_head(struct lws *wsi, struct http_conn *conn)
{
    const char *message;
    enum hone_net_method method;
    unsigned status = hone_net_gate(wsi, &method, &message);
    if (status != 0)
        return hone_net_refuse(wsi, status, NULL, message);
    if (conn == NULL || conn->phase != HEAD)
        return -1;
    conn->wsi = wsi;
    if (method == HONE_NET_GET && hone_net_page(wsi, &conn->out)) {
        conn->phase = ENDING;
        lws_callback_on_writable(wsi);
        return 0;
    }
    if (method == HONE_NET_POST)
        return begin_post(wsi, conn);
    return method == HONE_NET_GET ? resume(wsi, conn) : end_session(wsi, conn);
}

/* ---- messages ---- */

/* program: what a request that stands alone says of its client, for its turn; NULL: a session has
 * its own. */
static int open_session(struct lws *wsi, const char *id_text, const char *program,
                        struct hone_http_session **ret)
{
    struct hone_client *client = hone_net_client(wsi);
    struct hone_ws *ws = hone_net_of(wsi);
    const struct hone_peer_spec spec = {
        .transport = &hone_net_transport,
        .transport_arg = ws,
        .handler = &hone_mcp_handler,
        .handler_arg = ws->spec->mcp,
        .parsers = hone_runtime_lane(ws->spec->mcp->runtime, HONE_LANE_QUICK),
        .client = client,
        .turn = program != NULL ? hone_turn_of(hone_client_name(client), program) : 0,
    };
    struct hone_err err = HONE_ERR_INIT;
    if (hone_http_open(ws->sessions, &spec, hone_now_ns(), ret, &err) < 0)
        return hone_net_refuse(wsi, 503, id_text, err.message);
    return 0;
}

static int take_request(struct http_conn *conn, struct hone_http_session *session,
                        const struct hone_rpc_message *message)
{
    struct hone_err err = HONE_ERR_INIT;
    if (hone_http_stream_open(session, message->id_text, &conn->stream, &err) < 0)
        return hone_net_refuse(conn->wsi, 400, message->id_text, err.message);
    conn->stream->reader = conn;
    conn->phase = WAITING;
    lws_set_timeout(conn->wsi, NO_PENDING_TIMEOUT, 0);
    lws_set_timer_usecs(conn->wsi, DECIDE_US);
    hone_peer_receive(session->peer, conn->body.data, conn->body.len);
    hone_buf_done(&conn->body);
    return 0;
}

static int take_other(struct http_conn *conn, struct hone_http_session *session,
                      const struct hone_rpc_message *message)
{
    hone_peer_receive(session->peer, conn->body.data, conn->body.len);
    const struct hone_json *id = hone_json_get(message->params, "requestId");
    if (message->method != NULL && strcmp(message->method, "notifications/cancelled") == 0 &&
        id != NULL) {
        HONE_AUTOFREE char *call_id = hone_json_print(id);
        hone_http_cancelled(hone_net_of(conn->wsi)->sessions, session, call_id);
    }
    return no_content(conn->wsi, conn, "202 Accepted");
}

/* ---- requests that stand alone ---- */

static unsigned status_of(int number)
{
    return number == HONE_RPC_METHOD ? 404 : 400;
}

static int refuse_alone(struct lws *wsi, const struct hone_rpc_message *message,
                        const struct hone_mcp_refusal *refusal)
{
    HONE_AUTOFREE char *data = hone_mcp_refusal_data(refusal, message->params);
    HONE_AUTOFREE char *body =
        hone_rpc_error(message->id_text, refusal->number, refusal->text, data);
    return hone_net_refuse_with(wsi, status_of(refusal->number), body);
}

static bool header_is(struct lws *wsi, const char *name, const char *want)
{
    HONE_AUTOFREE char *value = hone_net_custom_header(wsi, name);
    return hone_mirror_is(value, want);
}

/* The arguments that the tool wants repeated in headers of their own. */
static bool arguments_agree(struct lws *wsi, const struct hone_rpc_message *message)
{
    const struct hone_mcp *mcp = hone_net_of(wsi)->spec->mcp;
    const struct hone_tool *tool = hone_registry_find(
        hone_runtime_app(mcp->runtime)->registry, hone_json_get_str(message->params, "name", ""));
    const struct hone_json *arguments = hone_json_get(message->params, "arguments");
    for (size_t i = 0; tool != NULL && i < tool->n_in; i++) {
        if (tool->in[i].header == NULL)
            continue;
        HONE_AUTOFREE char *name = hone_sprintf("mcp-param-%s:", tool->in[i].header);
        for (char *c = name; *c != '\0'; c++)
            *c = (char)tolower((unsigned char)*c);
        HONE_AUTOFREE char *value = hone_net_custom_header(wsi, name);
        if (!hone_mirror_agrees(value, hone_json_get(arguments, tool->in[i].name)))
            return false;
    }
    return true;
}

static bool headers_agree(struct lws *wsi, const struct hone_rpc_message *message)
{
    static const char *const named[][2] = {{"tools/call", "name"},     {"prompts/get", "name"},
                                           {"resources/read", "uri"},  {"tasks/get", "taskId"},
                                           {"tasks/update", "taskId"}, {"tasks/cancel", "taskId"}};
    const char *version = hone_json_get_str(hone_json_get(message->params, "_meta"),
                                            "io.modelcontextprotocol/protocolVersion", "");
    if (!header_is(wsi, "mcp-protocol-version:", version) ||
        !header_is(wsi, "mcp-method:", message->method))
        return false;
    for (size_t i = 0; i < HONE_COUNTOF(named); i++)
        if (strcmp(message->method, named[i][0]) == 0 &&
            !header_is(wsi, "mcp-name:", hone_json_get_str(message->params, named[i][1], "")))
            return false;
    return strcmp(message->method, "tools/call") != 0 || arguments_agree(wsi, message);
}

static int take_alone(struct http_conn *conn, const struct hone_rpc_message *message)
{
    struct hone_mcp_refusal refusal = hone_mcp_modern_check(message->method, message->params);
    struct hone_http_session *session = NULL;
    if (refusal.number != HONE_RPC_PARAMS && !headers_agree(conn->wsi, message))
        refusal = (struct hone_mcp_refusal){
            HONE_MCP_MISMATCH,
            "headers MCP-Protocol-Version, Mcp-Method, Mcp-Name and those that the tool's schema "
            "names (Mcp-Param-...) must say what the body says",
            NULL};
    if (refusal.number != 0)
        return refuse_alone(conn->wsi, message, &refusal);
    int rc = open_session(conn->wsi, message->id_text, hone_mcp_program(message->params), &session);
    if (session == NULL)
        return rc;
    session->is_single = true;
    return take_request(conn, session, message);
}

/* The whole body is there. The revision's batches are not taken: no client sends them. */
static int on_message(struct lws *wsi, struct http_conn *conn)
{
    struct hone_err err = HONE_ERR_INIT;
    HONE_AUTOJSON struct hone_json *value = NULL;
    HONE_CLEANUP(hone_rpc_message_done) struct hone_rpc_message message = {.id_text = NULL};
    if (hone_json_parse(conn->body.data, conn->body.len, &value, &err) < 0) {
        HONE_AUTOFREE char *why = hone_sprintf("not JSON: %s", err.message);
        return hone_net_refuse(wsi, 400, NULL, why);
    }
    hone_rpc_read(value, &message);
    if (message.kind == HONE_RPC_BAD || message.kind == HONE_RPC_IGNORED)
        return hone_net_refuse(wsi, 400, message.id_text,
                               message.kind == HONE_RPC_BAD ? message.error_text
                                                            : "no JSON-RPC message");
    const char *id_text = message.kind == HONE_RPC_REQUEST ? message.id_text : NULL;
    if (id_text != NULL && (hone_mcp_is_modern(message.method, message.params) ||
                            header_is(wsi, "mcp-protocol-version:", hone_mcp_stateless.name)))
        return take_alone(conn, &message);
    conn->is_initialize = id_text != NULL && strcmp(message.method, "initialize") == 0;
    if (!conn->is_initialize && !is_known_revision(wsi))
        return hone_net_refuse(wsi, 400, id_text, "MCP-Protocol-Version names no revision of ours");
    struct hone_http_session *session = NULL;
    int rc = -1;
    if (conn->is_initialize)
        rc = open_session(wsi, id_text, NULL, &session);
    else
        session = session_of(wsi, id_text, &rc);
    if (session == NULL)
        return rc;
    return id_text != NULL ? take_request(conn, session, &message)
                           : take_other(conn, session, &message);
}

static int on_body(struct lws *wsi, struct http_conn *conn, const char *bytes, size_t len)
{
    if (conn == NULL || conn->phase != BODY)
        return -1;
    if (conn->body.len + len > conn->length)
        return hone_net_refuse(wsi, 400, NULL, "more bytes than Content-Length says");
    hone_buf_add(&conn->body, bytes, len);
    return hone_buf_check(&conn->body, NULL) < 0 ? -1 : 0;
}

int hone_net_http(struct lws *wsi, int reason, void *user, void *in, size_t len)
{
    struct http_conn *conn = user;
    switch (reason) {
    case LWS_CALLBACK_HTTP:
        return on_head(wsi, conn);
    case LWS_CALLBACK_HTTP_BODY:
        return on_body(wsi, conn, in, len);
    case LWS_CALLBACK_HTTP_BODY_COMPLETION:
        return conn != NULL && conn->phase == BODY && conn->body.len == conn->length
                   ? on_message(wsi, conn)
                   : -1; /* a second time: more bytes came, and the library would come for ever */
    case LWS_CALLBACK_HTTP_WRITEABLE:
        return conn != NULL ? writable(conn) : -1;
    case LWS_CALLBACK_TIMER:
        return conn != NULL ? timer(conn) : 0;
    case LWS_CALLBACK_HTTP_DROP_PROTOCOL:
    case LWS_CALLBACK_CLOSED_HTTP:
        release(wsi, conn);
        return 0;
    default:
        return lws_callback_http_dummy(wsi, (enum lws_callback_reasons)reason, user, in, len);
    }
}
