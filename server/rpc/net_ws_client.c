/* SPDX-License-Identifier: Apache-2.0 */
/* A call: connect -> initialize (id 1) -> notifications/initialized, tools/call (id 2) -> answer.
 * Interrupting sends notifications/cancelled first.
 *
 * A relay: a thread reads lines and hands them over one at a time, so that a server that does not
 * read stops the reading; the loop's thread does everything else. */
#include "server/rpc/net_ws_client.h"

#include <errno.h>
#include <libwebsockets.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "server/rpc/auth.h"
#include "server/rpc/rpc.h"
#include "server/rpc/version.h"
#include "workspace/base/limits.h"
#include "workspace/base/process.h"

#define RX_BYTES     (16u << 10)
#define OUT_MESSAGES 4
#define READ_BYTES   (64u << 10)

struct relay {
    int in_fd, out_fd;
    int64_t linger_ms;
    bool is_lingering;       /* the input has ended */
    struct hone_cancel stop; /* of the reader */
    pthread_mutex_t lock;
    pthread_cond_t is_taken;
    char *line;     /* lock: owned; NULL: taken */
    bool is_at_end; /* lock */
    size_t n_open;  /* requests without an answer */
};

struct hone_ws_client {
    struct relay *relay; /* NULL: a call */
    struct lws_context *context;
    struct lws *wsi; /* NULL when there is no connection */
    char *host, *path, *token;
    bool is_tls;
    int port;
    const char *tool, *args_json;
    hone_progress_fn *on_progress;
    void *progress_arg;
    char *out[OUT_MESSAGES]; /* owned; the first n_out wait to be sent */
    size_t n_out;
    struct hone_buf rx;
    bool is_over, has_sent_cancel;
    atomic_bool is_interrupted;
    struct hone_json *result;
    bool is_error;
    int rc;
    struct hone_err err;
};

static void say(struct hone_ws_client *client, char *text)
{
    HONE_BUG_ON(client->n_out == OUT_MESSAGES);
    client->out[client->n_out++] = text;
    lws_callback_on_writable(client->wsi);
}

static int give_up(struct hone_ws_client *client, enum hone_code code, const char *message)
{
    if (!client->is_over)
        client->rc = hone_fail(&client->err, code, "%s", message);
    client->is_over = true;
    return -1;
}

static void say_initialize(struct hone_ws_client *client)
{
    say(client,
        hone_strdup(
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{"
            "\"protocolVersion\":\"2025-11-25\","
            "\"capabilities\":{},\"clientInfo\":{\"name\":\"hone-call\",\"version\":\"" HONE_VERSION
            "\"}}}"));
}

static void say_call(struct hone_ws_client *client)
{
    HONE_AUTOFREE char *name = hone_rpc_quote(client->tool);
    say(client, hone_strdup("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}"));
    say(client, hone_sprintf("{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/"
                             "call\",\"params\":{\"name\":%s,\"arguments\":%s,"
                             "\"_meta\":{\"progressToken\":2,\"hone/structured\":true}}}",
                             name, client->args_json));
}

static void take_progress(struct hone_ws_client *client, const struct hone_json *params)
{
    const struct hone_progress progress = {
        .message = hone_json_get_str(params, "message", ""),
        .done = hone_json_get_f64(params, "progress", 0),
        .total = hone_json_get_f64(params, "total", 0),
    };
    if (client->on_progress)
        client->on_progress(client->progress_arg, &progress);
}

static int take_answer(struct hone_ws_client *client, struct hone_json *message)
{
    const struct hone_json *error = hone_json_get(message, "error");
    const struct hone_json *result = hone_json_get(message, "result");
    if (error)
        return give_up(
            client,
            hone_json_get_i64(error, "code", 0) == HONE_RPC_PARAMS ? HONE_E_ARG : HONE_E_TARGET,
            hone_json_get_str(error, "message", "the server refused without saying why"));
    if (hone_json_get_i64(message, "id", 0) == 1) {
        say_call(client);
        return 0;
    }
    client->is_error = hone_json_get_bool(result, "isError", false);
    client->result = hone_json_copy(hone_json_get(result, "structuredContent"));
    client->is_over = true;
    return -1;
}

/* ---- relay ---- */

static enum hone_rpc_kind kind_of(const char *text, size_t len)
{
    HONE_AUTOJSON struct hone_json *value = NULL;
    HONE_CLEANUP(hone_rpc_message_done) struct hone_rpc_message message = {.id_text = NULL};
    if (hone_json_parse(text, len, &value, NULL) < 0)
        return HONE_RPC_BAD;
    hone_rpc_read(value, &message);
    const struct hone_json *id = hone_json_get(value, "id");
    bool answers_none = id == NULL || hone_json_type(id) == HONE_JSON_NULL;
    return message.kind == HONE_RPC_RESPONSE && answers_none ? HONE_RPC_IGNORED : message.kind;
}

/* The loop's thread: the reader's line to the server, if there is one. */
static void take_line(struct hone_ws_client *client)
{
    struct relay *relay = client->relay;
    if (relay == NULL || client->wsi == NULL || client->n_out > 0)
        return;
    pthread_mutex_lock(&relay->lock);
    char *line = HONE_STEAL(relay->line);
    bool is_at_end = relay->is_at_end && line == NULL;
    pthread_cond_signal(&relay->is_taken);
    pthread_mutex_unlock(&relay->lock);
    if (line != NULL) {
        if (kind_of(line, strlen(line)) == HONE_RPC_REQUEST)
            relay->n_open++;
        say(client, line);
    } else if (is_at_end && !relay->is_lingering) {
        relay->is_lingering = true;
        lws_set_timer_usecs(client->wsi, relay->linger_ms * 1000);
    }
    if (is_at_end && relay->n_open == 0)
        client->is_over = true;
}

static int pass_on(struct hone_ws_client *client)
{
    struct relay *relay = client->relay;
    const char *at = client->rx.data;
    size_t left = client->rx.len;
    if (kind_of(at, left) == HONE_RPC_RESPONSE && relay->n_open > 0)
        relay->n_open--;
    hone_buf_str(&client->rx, "\n");
    for (left = client->rx.len, at = client->rx.data; left > 0;) {
        ssize_t n = write(relay->out_fd, at, left);
        if (n < 0 && errno != EINTR && errno != EAGAIN)
            return give_up(client, HONE_E_IO, "nobody reads the output");
        at += n > 0 ? n : 0;
        left -= n > 0 ? (size_t)n : 0;
    }
    client->rx.len = 0;
    take_line(client);
    return client->is_over ? -1 : 0;
}

/* Reader thread. false: the relay has ended. line NULL: the end of input. */
static bool hand_over(struct hone_ws_client *client, char *line)
{
    struct relay *relay = client->relay;
    pthread_mutex_lock(&relay->lock);
    while (relay->line != NULL && !hone_cancel_is_set(&relay->stop))
        pthread_cond_wait(&relay->is_taken, &relay->lock);
    bool goes_on = !hone_cancel_is_set(&relay->stop);
    if (goes_on)
        relay->line = HONE_STEAL(line);
    relay->is_at_end = relay->line == NULL;
    pthread_mutex_unlock(&relay->lock);
    free(line);
    lws_cancel_service(client->context);
    return goes_on;
}

/* The whole lines of `text`. false: the relay has ended. */
static bool hand_over_lines(struct hone_ws_client *client, struct hone_buf *text)
{
    char *end;
    while (text->len > 0 && (end = memchr(text->data, '\n', text->len)) != NULL) {
        size_t len = (size_t)(end - text->data);
        size_t used = len > 0 && end[-1] == '\r' ? len - 1 : len;
        if (used > 0 && !hand_over(client, hone_strndup(text->data, used)))
            return false;
        hone_buf_drop(text, len + 1);
    }
    return hone_buf_check(text, NULL) == 0;
}

static void *read_lines(void *arg)
{
    struct hone_ws_client *client = arg;
    struct relay *relay = client->relay;
    struct hone_buf text = {.limit = HONE_LIMIT_WS_MESSAGE_BYTES + READ_BYTES};
    HONE_AUTOFREE char *bytes = hone_malloc(READ_BYTES);
    struct pollfd fds[2] = {{.fd = relay->in_fd, .events = POLLIN},
                            {.fd = relay->stop.event_fd, .events = POLLIN}};
    ssize_t n = 1;
    while (n != 0 && !hone_cancel_is_set(&relay->stop)) {
        if (poll(fds, HONE_COUNTOF(fds), -1) < 0 || fds[0].revents == 0)
            continue;
        n = read(relay->in_fd, bytes, READ_BYTES);
        if (n < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (n <= 0)
            break;
        hone_buf_add(&text, bytes, (size_t)n);
        if (!hand_over_lines(client, &text))
            break;
    }
    if (text.len > 0 && hone_buf_check(&text, NULL) == 0) /* a last line without newline */
        hand_over(client, hone_strndup(text.data, text.len));
    hone_buf_done(&text);
    hand_over(client, NULL);
    return NULL;
}

/* ---- both ---- */

static int take_message(struct hone_ws_client *client)
{
    if (client->relay != NULL)
        return pass_on(client);
    HONE_AUTOJSON struct hone_json *message = NULL;
    struct hone_err err = HONE_ERR_INIT;
    if (hone_json_parse(client->rx.data ? client->rx.data : "", client->rx.len, &message, &err) < 0)
        return give_up(client, HONE_E_CORRUPT, err.message);
    client->rx.len = 0;
    const char *method = hone_json_get_str(message, "method", NULL);
    if (!method)
        return take_answer(client, message);
    if (strcmp(method, "notifications/progress") == 0)
        take_progress(client, hone_json_get(message, "params"));
    return 0;
}

static int receive(struct hone_ws_client *client, const char *bytes, size_t len)
{
    hone_buf_add(&client->rx, bytes, len);
    if (hone_buf_check(&client->rx, NULL) < 0)
        return give_up(client, HONE_E_LIMIT, "the server's answer is too large");
    bool is_whole =
        lws_is_final_fragment(client->wsi) && lws_remaining_packet_payload(client->wsi) == 0;
    return is_whole ? take_message(client) : 0;
}

static int write_next(struct hone_ws_client *client)
{
    if (client->n_out == 0)
        return client->has_sent_cancel ? give_up(client, HONE_E_CANCEL, "interrupted") : 0;
    HONE_AUTOFREE char *text = client->out[0];
    memmove(&client->out[0], &client->out[1], --client->n_out * sizeof(client->out[0]));
    size_t len = strlen(text);
    HONE_AUTOFREE unsigned char *frame = hone_malloc(LWS_PRE + len);
    memcpy(frame + LWS_PRE, text, len);
    if (lws_write(client->wsi, frame + LWS_PRE, len, LWS_WRITE_TEXT) < (int)len)
        return give_up(client, HONE_E_IO, "the connection broke while sending");
    take_line(client);
    lws_callback_on_writable(client->wsi);
    return 0;
}

static void look_for_interrupt(struct hone_ws_client *client)
{
    if (!atomic_load(&client->is_interrupted) || client->has_sent_cancel || client->is_over)
        return;
    client->has_sent_cancel = true;
    if (client->relay == NULL && client->wsi && client->n_out < OUT_MESSAGES)
        say(client, hone_strdup("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/"
                                "cancelled\",\"params\":{\"requestId\":2,"
                                "\"reason\":\"interrupted\"}}"));
    else
        give_up(client, HONE_E_CANCEL, "interrupted");
}

static int append_token(const struct hone_ws_client *client, struct lws *wsi, void *in, size_t len)
{
    unsigned char **at = in;
    if (!client->token)
        return 0;
    HONE_AUTOFREE char *value = hone_sprintf("Bearer %s", client->token);
    return lws_add_http_header_by_token(wsi, WSI_TOKEN_HTTP_AUTHORIZATION,
                                        (const unsigned char *)value, (int)strlen(value), at,
                                        *at + len);
}

static int refused(struct hone_ws_client *client, struct lws *wsi, const char *why)
{
    unsigned status = lws_http_client_http_response(wsi);
    HONE_AUTOFREE char *message =
        status == 401 ? hone_strdup("the server wants its token: use the URL that `hone serve` "
                                    "printed, or --token-file")
                      : hone_sprintf("cannot connect to %s port %d: %s", client->host, client->port,
                                     why ? why : "no answer");
    client->wsi = NULL;
    give_up(client, status == 401 || status == 403 ? HONE_E_AUTH : HONE_E_IO, message);
    return 0;
}

static int on_event(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in,
                    size_t len)
{
    (void)user;
    struct hone_ws_client *client = lws_context_user(lws_get_context(wsi));
    switch ((int)reason) {
    case LWS_CALLBACK_CLIENT_APPEND_HANDSHAKE_HEADER:
        return append_token(client, wsi, in, len);
    case LWS_CALLBACK_CLIENT_CONNECTION_ERROR:
        return refused(client, wsi, in);
    case LWS_CALLBACK_CLIENT_ESTABLISHED:
        client->wsi = wsi;
        if (client->relay != NULL)
            take_line(client);
        else
            say_initialize(client);
        return 0;
    case LWS_CALLBACK_CLIENT_RECEIVE:
        return receive(client, in, len);
    case LWS_CALLBACK_CLIENT_WRITEABLE:
        return write_next(client);
    case LWS_CALLBACK_CLIENT_CLOSED:
        client->wsi = NULL;
        give_up(client, HONE_E_IO, "the server closed the connection");
        return 0;
    case LWS_CALLBACK_EVENT_WAIT_CANCELLED:
        look_for_interrupt(client);
        take_line(client);
        return 0;
    case LWS_CALLBACK_TIMER:
        client->is_over = true;
        return -1;
    default:
        return 0;
    }
}

static const struct lws_protocols protocols[] = {
    {.name = "mcp", .callback = on_event, .rx_buffer_size = RX_BYTES},
    {.name = NULL},
};

static int parse_url(struct hone_ws_client *client, const char *url, struct hone_err *err)
{
    client->is_tls = strncmp(url, "wss://", 6) == 0;
    if (!client->is_tls && strncmp(url, "ws://", 5) != 0)
        return hone_fail(
            err, HONE_E_ARG,
            "'%.60s' is no WebSocket URL; it looks like ws://127.0.0.1:7411/mcp?token=...", url);
    const char *rest = url + (client->is_tls ? 6 : 5);
    size_t len = strcspn(rest, "/?");
    HONE_AUTOFREE char *authority = hone_strndup(rest, len);
    const char *path = rest + len;
    client->path = hone_strdup(path[0] == '/' ? path : "/mcp");
    int rc = hone_split_address(authority, &client->host, &client->port, err);
    if (rc == 0 && client->port < 0)
        client->port = client->is_tls ? 443 : 80;
    return rc;
}

static void no_log(int level, const char *line)
{
    (void)level;
    (void)line;
}

int hone_ws_client_new(const char *url, const char *token, struct hone_ws_client **ret,
                       struct hone_err *err)
{
    struct hone_ws_client *client = hone_calloc(1, sizeof(*client));
    client->token = token ? hone_strdup(token) : NULL;
    client->rx.limit = HONE_LIMIT_BUF_BYTES;
    int rc = parse_url(client, url, err);
    if (rc == 0) {
        lws_set_log_level(0, no_log);
        struct lws_context_creation_info info = {
            .port = CONTEXT_PORT_NO_LISTEN,
            .protocols = protocols,
            .user = client,
            /* int in libwebsockets 4.1, unsigned in 4.3 */
            .gid = (__typeof__(info.gid))-1,
            .uid = (__typeof__(info.uid))-1,
            .options = client->is_tls ? LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT : 0,
            .fd_limit_per_thread = 16,
            .timeout_secs = 10,
        };
        client->context = lws_create_context(&info);
        if (!client->context)
            rc = hone_fail(err, HONE_E_NOMEM, "cannot start the WebSocket client");
    }
    if (rc < 0)
        hone_ws_client_free(client);
    else
        *ret = client;
    return rc;
}

static void connect_to(struct hone_ws_client *client)
{
    HONE_AUTOFREE char *host_header = hone_sprintf("%s:%d", client->host, client->port);
    struct lws_client_connect_info info = {
        .context = client->context,
        .address = client->host,
        .port = client->port,
        .path = client->path,
        .host = host_header,
        .protocol = "mcp",
        .local_protocol_name = "mcp",
        .ietf_version_or_minus_one = -1,
        .ssl_connection = client->is_tls ? LCCSCF_USE_SSL : 0,
    };
    if (!lws_client_connect_via_info(&info))
        give_up(client, HONE_E_IO, "cannot connect");
}

int hone_ws_client_call(struct hone_ws_client *client, const char *tool, const char *args_json,
                        hone_progress_fn *on_progress, void *progress_arg,
                        struct hone_json **ret_result, bool *ret_is_error, struct hone_err *err)
{
    client->tool = tool;
    client->args_json = args_json;
    client->on_progress = on_progress;
    client->progress_arg = progress_arg;
    client->is_over = false;
    client->rc = 0;
    connect_to(client);
    while (!client->is_over && lws_service(client->context, 0) >= 0)
        look_for_interrupt(client);
    if (client->rc == 0 && !client->result)
        client->rc = hone_fail(&client->err, HONE_E_CORRUPT,
                               "the server answered without structured content");
    if (client->rc < 0) {
        if (err)
            *err = client->err;
        return client->rc;
    }
    *ret_result = HONE_STEAL(client->result);
    *ret_is_error = client->is_error;
    return 0;
}

static int run_relay(struct hone_ws_client *client, struct hone_err *err)
{
    struct relay *relay = client->relay;
    pthread_t reader;
    int native = pthread_create(&reader, NULL, read_lines, client);
    if (native != 0)
        return hone_fail_errno(err, native, "cannot start a thread");
    connect_to(client);
    while (!client->is_over && lws_service(client->context, 0) >= 0) {
        look_for_interrupt(client);
        take_line(client);
    }
    hone_cancel_set(&relay->stop);
    pthread_mutex_lock(&relay->lock);
    pthread_cond_signal(&relay->is_taken);
    pthread_mutex_unlock(&relay->lock);
    pthread_join(reader, NULL);
    if (client->rc < 0 && err)
        *err = client->err;
    return client->rc;
}

int hone_ws_client_relay(struct hone_ws_client *client, int in_fd, int out_fd, int64_t linger_ms,
                         struct hone_err *err)
{
    struct relay relay = {.in_fd = in_fd, .out_fd = out_fd, .linger_ms = linger_ms};
    int rc = hone_cancel_init(&relay.stop, err);
    if (rc < 0)
        return rc;
    pthread_mutex_init(&relay.lock, NULL);
    pthread_cond_init(&relay.is_taken, NULL);
    client->relay = &relay;
    client->is_over = false;
    client->rc = 0;
    rc = run_relay(client, err);
    client->relay = NULL;
    client->is_over = true;
    free(relay.line);
    pthread_cond_destroy(&relay.is_taken);
    pthread_mutex_destroy(&relay.lock);
    hone_cancel_done(&relay.stop);
    return rc;
}

void hone_ws_client_interrupt(struct hone_ws_client *client)
{
    atomic_store(&client->is_interrupted, true);
    lws_cancel_service(client->context);
}

void hone_ws_client_free(struct hone_ws_client *client)
{
    if (!client)
        return;
    client->is_over = true;
    if (client->context)
        lws_context_destroy(client->context);
    for (size_t i = 0; i < client->n_out; i++)
        free(client->out[i]);
    hone_buf_done(&client->rx);
    hone_json_free(client->result);
    free(client->host);
    free(client->path);
    free(client->token);
    free(client);
}
