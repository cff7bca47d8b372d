/* SPDX-License-Identifier: Apache-2.0 */
/* One loop thread owns every socket and every struct conn. Other threads only add to the outbox
 * (lock) and wake the loop.
 *
 *   text frame pieces -> conn.rx -> whole message -> peer -> ...
 *   ... -> send() -> outbox -> conn.queue -> frames
 *
 * Limits: message size (1009), queue of unsent bytes (the socket is not read above
 * QUEUE_PAUSE_BYTES and dropped above HONE_LIMIT_WS_QUEUE_BYTES), sockets, request head.
 * Connections are named by a serial number outside the loop, for they may be gone when
 * an answer comes.
 *
 * libwebsockets 4.1.6 needs these, each with a test in tests/e2e/ws_*_test.c:
 *   - an address as `iface` may listen on every address: IPv6 off for IPv4, then getsockname
 *     decides;
 *   - an upgrade to anything but websocket is refused before the library looks at it again (use
 *     after free; h2c);
 *   - no sub-protocol or an unknown one binds to protocols[0]: each protocol refuses by default,
 *     and only the gate lets in;
 *   - CONNECT makes a raw socket: refused at adoption;
 *   - a POST body answered late can spin the loop: every HTTP request is answered at its head and
 *     closed, bodies are never read;
 *   - one write for one writable callback; only lws_cancel_service may be called from another
 *     thread;
 *   - its shutdown sends no close frame: hone_ws_run does.
 *
 * The library hides the mask bit, so unmasked frames are read like masked ones; they are no risk to
 * an authenticated server. */
#include "server/rpc/net_ws.h"

#include <arpa/inet.h>
#include <errno.h>
#include <libwebsockets.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include "workspace/base/clock.h"
#include "workspace/base/limits.h"
#include "workspace/base/log.h"

#define CHUNK_BYTES        (32u << 10) /* of one write */
#define RX_BYTES           (16u << 10)
#define QUEUE_PAUSE_BYTES  (1u << 20)
#define QUEUE_RESUME_BYTES (256u << 10)
#define RX_KEEP_BYTES      (64u << 10) /* a larger collection buffer is given back */
#define GOODBYE_US         (700 * 1000)
#define HEAD_SECONDS       10

struct message {
    uint64_t serial;
    char *text; /* owned */
    size_t len;
    struct message *next;
};

struct conn { /* lives in the library's per-connection memory */
    struct lws *wsi;
    struct hone_peer *peer;
    uint64_t serial;
    struct hone_buf rx;
    struct message *queue, **queue_tail;
    size_t queue_bytes, n_sent; /* n_sent: of the first message */
    bool is_paused;
};

struct hone_ws {
    struct lws_context *context;
    const struct hone_ws_spec *spec;
    pthread_t loop;
    int port;
    atomic_bool is_stopping;
    bool is_saying_goodbye, is_over; /* loop thread */
    size_t n_sockets, n_conns;       /* loop thread */
    struct conn
        *conns[HONE_LIMIT_CONNECTIONS]; /* by serial % HONE_LIMIT_CONNECTIONS; loop thread */
    uint64_t turn;                      /* loop thread: makes serials unique */
    pthread_mutex_t lock;
    struct message *outbox, **outbox_tail; /* lock */
    unsigned char *chunk;                  /* loop thread: LWS_PRE + CHUNK_BYTES */
    lws_sorted_usec_list_t goodbye_timer;
};

static struct hone_ws *ws_of(struct lws *wsi)
{
    return lws_context_user(lws_get_context(wsi));
}

/* ---- answers to plain HTTP ---- */

static const struct {
    unsigned status;
    const char *reason;
} reasons[] = {{400, "Bad Request"},        {401, "Unauthorized"},       {403, "Forbidden"},
               {404, "Not Found"},          {405, "Method Not Allowed"}, {426, "Upgrade Required"},
               {503, "Service Unavailable"}};

/* Writes a whole answer and asks for the end of the connection: the result is what a callback
 * returns. */
static int refuse(struct lws *wsi, unsigned status, const char *message)
{
    const char *reason = "Error";
    for (size_t i = 0; i < HONE_COUNTOF(reasons); i++)
        if (reasons[i].status == status)
            reason = reasons[i].reason;
    HONE_AUTOFREE char *body = hone_rpc_error(
        "null", status == 401 ? hone_rpc_number(HONE_E_AUTH) : HONE_RPC_INVALID, message, NULL);
    HONE_AUTOFREE char *text =
        hone_sprintf("HTTP/1.1 %u %s\r\n%s%sContent-Type: application/json\r\nContent-Length: "
                     "%zu\r\nConnection: close\r\n\r\n%s",
                     status, reason, status == 401 ? "WWW-Authenticate: Bearer\r\n" : "",
                     status == 405 ? "Allow: GET\r\n" : "", strlen(body), body);
    size_t len = strlen(text);
    HONE_AUTOFREE unsigned char *out = hone_malloc(LWS_PRE + len);
    memcpy(out + LWS_PRE, text, len);
    lws_write(wsi, out + LWS_PRE, len, LWS_WRITE_HTTP);
    return -1;
}

/* A header as it came, NULL when absent; owned. */
static char *header(struct lws *wsi, enum lws_token_indexes token)
{
    int len = lws_hdr_total_length(wsi, token);
    if (len <= 0)
        return NULL;
    char *text = hone_calloc(1, (size_t)len + 1);
    if (lws_hdr_copy(wsi, text, len + 1, token) < 0) {
        free(text);
        return NULL;
    }
    return text;
}

/* The path, whatever the method; owned. *ret_is_get tells GET from the rest. */
static char *request_path(struct lws *wsi, bool *ret_is_get)
{
    static const enum lws_token_indexes tokens[] = {
        WSI_TOKEN_GET_URI,   WSI_TOKEN_POST_URI,   WSI_TOKEN_OPTIONS_URI, WSI_TOKEN_PUT_URI,
        WSI_TOKEN_PATCH_URI, WSI_TOKEN_DELETE_URI, WSI_TOKEN_HEAD_URI};
    for (size_t i = 0; i < HONE_COUNTOF(tokens); i++) {
        char *path = header(wsi, tokens[i]);
        if (!path)
            continue;
        *ret_is_get = tokens[i] == WSI_TOKEN_GET_URI;
        return path;
    }
    return NULL;
}

static bool has_token(struct lws *wsi, const char *wanted)
{
    HONE_AUTOFREE char *authorization = header(wsi, WSI_TOKEN_HTTP_AUTHORIZATION);
    if (hone_token_matches(hone_auth_bearer(authorization), wanted))
        return true;
    HONE_AUTOFREE char *protocols = header(wsi, WSI_TOKEN_PROTOCOL);
    HONE_AUTOFREE char *from_protocol = hone_auth_bearer_protocol(protocols);
    if (hone_token_matches(from_protocol, wanted))
        return true;
    char query[HONE_LIMIT_TOKEN_BYTES + 1];
    return hone_token_matches(lws_get_urlarg_by_name(wsi, "token=", query, sizeof(query)), wanted);
}

/* What every request has to pass: 0, or the HTTP status of the refusal with its message. Host and
 * Origin come first, so that a page of another site learns nothing, not even whether a token is
 * right. */
static unsigned gate(struct lws *wsi, bool is_upgrade, const char **ret_message)
{
    const struct hone_ws *ws = ws_of(wsi);
    HONE_AUTOFREE char *host = header(wsi, WSI_TOKEN_HOST);
    HONE_AUTOFREE char *origin = header(wsi, WSI_TOKEN_ORIGIN);
    bool is_get = false;
    HONE_AUTOFREE char *path = request_path(wsi, &is_get);
    *ret_message = "Host must name this server: 127.0.0.1 or localhost (see --allow-host)";
    if (!hone_access_host(&ws->spec->access, host))
        return 403;
    *ret_message = "this Origin may not connect (see --allow-origin)";
    if (!hone_access_origin(&ws->spec->access, origin, host))
        return 403;
    *ret_message = "the only path is /mcp";
    if (!path || strcmp(path, "/mcp") != 0)
        return 404;
    *ret_message = "a token is needed: header Authorization: Bearer, query ?token=, or "
                   "sub-protocol bearer.TOKEN";
    if (ws->spec->token && !has_token(wsi, ws->spec->token))
        return 401;
    *ret_message = "connect by WebSocket (GET with Upgrade: websocket, sub-protocol mcp); the HTTP "
                   "transport is not served";
    if (!is_get || !is_upgrade)
        return 405;
    return 0;
}

static int confirm_upgrade(struct lws *wsi)
{
    const struct hone_ws *ws = ws_of(wsi);
    HONE_AUTOFREE char *upgrade = header(wsi, WSI_TOKEN_UPGRADE);
    HONE_AUTOFREE char *version = header(wsi, WSI_TOKEN_VERSION);
    HONE_AUTOFREE char *key = header(wsi, WSI_TOKEN_KEY);
    HONE_AUTOFREE char *protocols = header(wsi, WSI_TOKEN_PROTOCOL);
    const char *message;
    unsigned status = gate(wsi, true, &message);
    if (status)
        return refuse(wsi, status, message);
    if (!upgrade || strcasecmp(upgrade, "websocket") != 0)
        return refuse(wsi, 400, "the only upgrade is websocket");
    if (!version || strcmp(version, "13") != 0)
        return refuse(wsi, 426, "Sec-WebSocket-Version must be 13");
    if (!key || strlen(key) != 24)
        return refuse(wsi, 400, "Sec-WebSocket-Key must be 16 bytes in base64");
    if (!hone_auth_offers(protocols, "mcp"))
        return refuse(wsi, 400, "offer the sub-protocol mcp");
    if (strlen(protocols) > 120) /* the library cuts the list at 128 bytes */
        return refuse(wsi, 400, "the list of sub-protocols is too long");
    if (ws->n_conns >= HONE_LIMIT_CONNECTIONS)
        return refuse(wsi, 503, "too many connections; close one first");
    return 0;
}

static int plain_http(struct lws *wsi)
{
    const char *message;
    unsigned status = gate(wsi, false, &message);
    return refuse(wsi, status ? status : 405, message);
}

/* ---- from the peer to the socket ---- */

static void wake(struct hone_ws *ws)
{
    lws_cancel_service(ws->context);
}

static void queue_free(struct message *message)
{
    while (message) {
        struct message *next = message->next;
        free(message->text);
        free(message);
        message = next;
    }
}

static struct conn *find_conn(struct hone_ws *ws, uint64_t serial)
{
    struct conn *conn = ws->conns[serial % HONE_LIMIT_CONNECTIONS];
    return conn && conn->serial == serial ? conn : NULL;
}

static void kill_conn(struct conn *conn, const char *why)
{
    hone_log(HONE_LOG_WARN, "event=drop connection=%llu why=\"%s\"",
             (unsigned long long)conn->serial, why);
    lws_set_timeout(conn->wsi, PENDING_TIMEOUT_USER_REASON_BASE, LWS_TO_KILL_ASYNC);
}

/* Loop thread. message is moved. */
static void enqueue(struct hone_ws *ws, struct message *message)
{
    struct conn *conn = find_conn(ws, message->serial);
    if (!conn) {
        queue_free(message);
        return;
    }
    *conn->queue_tail = message;
    conn->queue_tail = &message->next;
    conn->queue_bytes += message->len;
    if (conn->queue_bytes > HONE_LIMIT_WS_QUEUE_BYTES)
        kill_conn(conn, "the client does not read its answers");
    if (conn->queue_bytes > QUEUE_PAUSE_BYTES && !conn->is_paused) {
        conn->is_paused = true;
        lws_rx_flow_control(conn->wsi, 0);
    }
    lws_callback_on_writable(conn->wsi);
}

static void send_message(void *arg, uint64_t serial, char *text, size_t len)
{
    struct hone_ws *ws = arg;
    struct message *message = hone_calloc(1, sizeof(*message));
    message->serial = serial;
    message->text = text;
    message->len = len;
    if (pthread_equal(pthread_self(), ws->loop)) {
        enqueue(ws, message);
        return;
    }
    pthread_mutex_lock(&ws->lock);
    bool was_empty = !ws->outbox;
    *ws->outbox_tail = message;
    ws->outbox_tail = &message->next;
    pthread_mutex_unlock(&ws->lock);
    if (was_empty)
        wake(ws);
}

/* Only hone_peer_receive calls this, so it is the loop thread. */
static void drop(void *arg, uint64_t serial, const char *why)
{
    struct conn *conn = find_conn(arg, serial);
    if (conn)
        kill_conn(conn, why);
}

static const struct hone_transport transport = {.send = send_message, .drop = drop};

static void deliver_outbox(struct hone_ws *ws)
{
    pthread_mutex_lock(&ws->lock);
    struct message *message = HONE_STEAL(ws->outbox);
    ws->outbox_tail = &ws->outbox;
    pthread_mutex_unlock(&ws->lock);
    while (message) {
        struct message *next = HONE_STEAL(message->next);
        enqueue(ws, message);
        message = next;
    }
}

static void message_sent(struct conn *conn)
{
    struct message *message = conn->queue;
    conn->queue = HONE_STEAL(message->next);
    if (!conn->queue)
        conn->queue_tail = &conn->queue;
    conn->queue_bytes -= message->len;
    conn->n_sent = 0;
    queue_free(message);
    if (conn->is_paused && conn->queue_bytes < QUEUE_RESUME_BYTES) {
        conn->is_paused = false;
        lws_rx_flow_control(conn->wsi, 1);
    }
}

static int writable(struct hone_ws *ws, struct conn *conn)
{
    if (ws->is_saying_goodbye) {
        lws_close_reason(conn->wsi, LWS_CLOSE_STATUS_GOINGAWAY, NULL, 0);
        return -1;
    }
    const struct message *message = conn->queue;
    if (!message)
        return 0;
    size_t left = message->len - conn->n_sent;
    size_t part = left < CHUNK_BYTES ? left : CHUNK_BYTES;
    int flags = lws_write_ws_flags(LWS_WRITE_TEXT, conn->n_sent == 0, part == left);
    memcpy(ws->chunk + LWS_PRE, message->text + conn->n_sent, part);
    if (lws_write(conn->wsi, ws->chunk + LWS_PRE, part, (enum lws_write_protocol)flags) < (int)part)
        return -1;
    conn->n_sent += part;
    if (conn->n_sent == message->len)
        message_sent(conn);
    if (conn->queue)
        lws_callback_on_writable(conn->wsi);
    return 0;
}

/* ---- from the socket to the peer ---- */

static int establish(struct hone_ws *ws, struct lws *wsi, struct conn *conn)
{
    size_t slot = 0;
    while (slot < HONE_LIMIT_CONNECTIONS && ws->conns[slot])
        slot++;
    *conn = (struct conn){.wsi = wsi};
    if (slot == HONE_LIMIT_CONNECTIONS)
        return -1;
    conn->serial = ++ws->turn * HONE_LIMIT_CONNECTIONS + slot;
    conn->rx.limit = HONE_LIMIT_WS_MESSAGE_BYTES + 1;
    conn->queue_tail = &conn->queue;
    ws->conns[slot] = conn;
    ws->n_conns++;
    struct hone_peer_spec spec = {
        .transport = &transport,
        .transport_arg = ws,
        .serial = conn->serial,
        .handler = &hone_mcp_handler,
        .handler_arg = ws->spec->mcp,
        .parsers = hone_runtime_lane(ws->spec->mcp->runtime, HONE_LANE_QUICK),
    };
    conn->peer = hone_peer_new(&spec);
    return 0;
}

static void closed(struct hone_ws *ws, struct conn *conn)
{
    if (!conn->peer)
        return;
    ws->conns[conn->serial % HONE_LIMIT_CONNECTIONS] = NULL;
    ws->n_conns--;
    hone_peer_close(HONE_STEAL(conn->peer));
    hone_buf_done(&conn->rx);
    queue_free(HONE_STEAL(conn->queue));
}

static int close_with(struct lws *wsi, enum lws_close_status status, const char *why)
{
    HONE_AUTOFREE unsigned char *text = (unsigned char *)hone_strdup(why);
    lws_close_reason(wsi, status, text, strlen(why));
    return -1;
}

static int receive(struct conn *conn, const char *bytes, size_t len)
{
    struct lws *wsi = conn->wsi;
    if (lws_frame_is_binary(wsi))
        return close_with(wsi, LWS_CLOSE_STATUS_UNACCEPTABLE_OPCODE, "text frames only");
    if (conn->rx.len + len > HONE_LIMIT_WS_MESSAGE_BYTES)
        return close_with(wsi, LWS_CLOSE_STATUS_MESSAGE_TOO_LARGE, "message too large");
    bool is_whole = lws_is_final_fragment(wsi) && lws_remaining_packet_payload(wsi) == 0;
    if (is_whole && conn->rx.len == 0) {
        hone_peer_receive(conn->peer, bytes, len);
        return 0;
    }
    hone_buf_add(&conn->rx, bytes, len);
    if (hone_buf_check(&conn->rx, NULL) < 0)
        return close_with(wsi, LWS_CLOSE_STATUS_MESSAGE_TOO_LARGE, "no memory for this message");
    if (!is_whole)
        return 0;
    hone_peer_receive(conn->peer, conn->rx.data, conn->rx.len);
    if (conn->rx.cap > RX_KEEP_BYTES) {
        hone_buf_done(&conn->rx);
        conn->rx = (struct hone_buf){.limit = HONE_LIMIT_WS_MESSAGE_BYTES + 1};
    }
    conn->rx.len = 0;
    return 0;
}

/* ---- the library ---- */

/* Everything that is not an upgraded connection. */
static int on_http(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in,
                   size_t len)
{
    struct hone_ws *ws = lws_context_user(lws_get_context(wsi));
    switch ((int)reason) {
    case LWS_CALLBACK_FILTER_NETWORK_CONNECTION:
        return ws->n_sockets >= HONE_LIMIT_CONNECTIONS + HONE_LIMIT_HALF_OPEN ? -1 : 0;
    case LWS_CALLBACK_WSI_CREATE:
        ws->n_sockets++;
        return 0;
    case LWS_CALLBACK_WSI_DESTROY:
        ws->n_sockets--;
        return 0;
    case LWS_CALLBACK_HTTP_CONFIRM_UPGRADE:
        return confirm_upgrade(wsi);
    case LWS_CALLBACK_HTTP:
        return plain_http(wsi);
    case LWS_CALLBACK_EVENT_WAIT_CANCELLED:
        deliver_outbox(ws);
        return 0;
    case LWS_CALLBACK_FILTER_PROTOCOL_CONNECTION:
    case LWS_CALLBACK_ESTABLISHED:
    case LWS_CALLBACK_RECEIVE:
    case LWS_CALLBACK_HTTP_BODY:
    case LWS_CALLBACK_HTTP_BODY_COMPLETION:
    case LWS_CALLBACK_HTTP_WRITEABLE:
    case LWS_CALLBACK_RAW_ADOPT:
    case LWS_CALLBACK_RAW_RX:
        return -1;
    default:
        return lws_callback_http_dummy(wsi, reason, user, in, len);
    }
}

static int on_mcp(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in,
                  size_t len)
{
    struct hone_ws *ws = lws_context_user(lws_get_context(wsi));
    struct conn *conn = user;
    const char *message;
    switch ((int)reason) {
    case LWS_CALLBACK_FILTER_PROTOCOL_CONNECTION:
        return gate(wsi, true, &message) == 0 ? 0 : -1;
    case LWS_CALLBACK_ESTABLISHED:
        return establish(ws, wsi, conn);
    case LWS_CALLBACK_RECEIVE:
        return receive(conn, in, len);
    case LWS_CALLBACK_SERVER_WRITEABLE:
        return writable(ws, conn);
    case LWS_CALLBACK_CLOSED:
        closed(ws, conn);
        return 0;
    case LWS_CALLBACK_RAW_ADOPT:
    case LWS_CALLBACK_RAW_RX:
        return -1;
    default:
        return 0;
    }
}

/* "mcp" must not be first: a client without a sub-protocol gets the first. */
static const struct lws_protocols protocols[] = {
    {.name = "hone-plain-http", .callback = on_http},
    {.name = "mcp",
     .callback = on_mcp,
     .per_session_data_size = sizeof(struct conn),
     .rx_buffer_size = RX_BYTES},
    {.name = NULL},
};

static const lws_retry_bo_t idle_policy = {.secs_since_valid_ping = 30,
                                           .secs_since_valid_hangup = 45};

static void log_line(int level, const char *line)
{
    (void)level;
    hone_log(HONE_LOG_DEBUG, "event=lws text=\"%.*s\"", (int)strcspn(line, "\n"), line);
}

/* The library sizes its tables by the descriptor limit. */
static void lower_descriptor_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur > 4096) {
        limit.rlim_cur = 4096;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

/* True when the descriptor is a listening socket on the wanted port; its address goes to text. */
static bool is_listener(int fd, int port, char text[INET6_ADDRSTRLEN])
{
    int is_listening = 0;
    socklen_t len = sizeof(is_listening);
    if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &is_listening, &len) < 0 || !is_listening)
        return false;
    struct sockaddr_storage any = {.ss_family = AF_UNSPEC};
    len = sizeof(any);
    if (getsockname(fd, (struct sockaddr *)&any, &len) < 0)
        return false;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
    memcpy(&v4, &any, sizeof(v4));
    memcpy(&v6, &any, sizeof(v6));
    if (any.ss_family == AF_INET && ntohs(v4.sin_port) == port)
        return inet_ntop(AF_INET, &v4.sin_addr, text, INET6_ADDRSTRLEN) != NULL;
    if (any.ss_family == AF_INET6 && ntohs(v6.sin6_port) == port)
        return inet_ntop(AF_INET6, &v6.sin6_addr, text, INET6_ADDRSTRLEN) != NULL;
    return false;
}

static int check_bound(const char *host, int port, struct hone_err *err)
{
    size_t n_found = 0;
    for (int fd = 0; fd < 4096; fd++) {
        char text[INET6_ADDRSTRLEN];
        if (!is_listener(fd, port, text))
            continue;
        n_found++;
        if (strcmp(text, host) != 0)
            return hone_fail(
                err, HONE_E_ARG,
                "the system listens on %s instead of %s; is that an address of this machine?", text,
                host);
    }
    return n_found == 1
               ? 0
               : hone_fail(err, HONE_E_BUG, "%zu listening sockets on port %d", n_found, port);
}

/* libwebsockets 4.3 tries for ever, deaf to signals, where bind fails: asked for here, before it. */
static int try_bind(const char *host, int port, bool is_v4, struct hone_err *err)
{
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port)};
    const struct sockaddr *address = is_v4 ? (const void *)&v4 : (const void *)&v6;
    const int yes = 1;
    inet_pton(is_v4 ? AF_INET : AF_INET6, host,
              is_v4 ? (void *)&v4.sin_addr : (void *)&v6.sin6_addr);
    HONE_AUTOCLOSE int fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) < 0 ||
        (!is_v4 && setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &yes, sizeof(yes)) < 0) ||
        bind(fd, address, is_v4 ? sizeof(v4) : sizeof(v6)) < 0)
        return hone_fail(err, HONE_E_BUSY, "cannot listen on %s port %d: %s", host, port,
                         strerrordesc_np(errno));
    return 0;
}

static int bind_and_check(struct hone_ws *ws, const char *host, struct hone_err *err)
{
    struct in_addr v4;
    bool is_v4 = inet_pton(AF_INET, host, &v4) == 1;
    int rc = try_bind(host, ws->spec->port, is_v4, err);
    if (rc < 0)
        return rc;
    struct lws_context_creation_info info = {
        .port = ws->spec->port,
        .iface = host,
        .protocols = protocols,
        .user = ws,
        /* int in libwebsockets 4.1, unsigned in 4.3 */
        .gid = (__typeof__(info.gid))-1,
        .uid = (__typeof__(info.uid))-1,
        .options = LWS_SERVER_OPTION_VALIDATE_UTF8 | LWS_SERVER_OPTION_FAIL_UPON_UNABLE_TO_BIND |
                   (is_v4 ? LWS_SERVER_OPTION_DISABLE_IPV6 : 0),
        .max_http_header_data2 = HONE_LIMIT_HEAD_BYTES,
        .max_http_header_pool = HONE_LIMIT_CONNECTIONS + HONE_LIMIT_HALF_OPEN,
        .pt_serv_buf_size = RX_BYTES,
        .timeout_secs = HEAD_SECONDS,
        .retry_and_idle_policy = &idle_policy,
        .alpn = "http/1.1",
    };
    ws->context = lws_create_context(&info);
    if (!ws->context)
        return hone_fail(err, HONE_E_BUSY,
                         "cannot listen on %s port %d; it is taken, or no address of this machine",
                         host, ws->spec->port);
    ws->port = lws_get_vhost_listen_port(lws_get_vhost_by_name(ws->context, "default"));
    return check_bound(host, ws->port, err);
}

int hone_ws_new(const struct hone_ws_spec *spec, struct hone_ws **ret, struct hone_err *err)
{
    const char *host = strcasecmp(spec->host, "localhost") == 0 ? "127.0.0.1" : spec->host;
    struct in6_addr any;
    if (inet_pton(AF_INET, host, &any) != 1 && inet_pton(AF_INET6, host, &any) != 1)
        return hone_fail(
            err, HONE_E_ARG,
            "'%.60s' is no literal address; listen on 127.0.0.1, ::1 or an address of this machine",
            spec->host);
    if (!spec->token && !hone_is_loopback(host))
        return hone_fail(err, HONE_E_AUTH,
                         "a server without a token listens on loopback only, not on %s", host);
    lower_descriptor_limit();
    lws_set_log_level(LLL_ERR | LLL_WARN, log_line);
    struct hone_ws *ws = hone_calloc(1, sizeof(*ws));
    ws->spec = spec;
    ws->loop = pthread_self();
    ws->outbox_tail = &ws->outbox;
    ws->chunk = hone_malloc(LWS_PRE + CHUNK_BYTES);
    pthread_mutex_init(&ws->lock, NULL);
    int rc = bind_and_check(ws, host, err);
    if (rc < 0)
        hone_ws_free(ws);
    else
        *ret = ws;
    return rc;
}

int hone_ws_port(const struct hone_ws *ws)
{
    return ws->port;
}

static void goodbye_over(lws_sorted_usec_list_t *timer)
{
    struct hone_ws *ws = lws_container_of(timer, struct hone_ws, goodbye_timer);
    ws->is_over = true;
}

void hone_ws_run(struct hone_ws *ws)
{
    ws->loop = pthread_self();
    while (!atomic_load(&ws->is_stopping))
        if (lws_service(ws->context, 0) < 0)
            break;
    ws->is_saying_goodbye = true;
    lws_sul_schedule(ws->context, 0, &ws->goodbye_timer, goodbye_over, GOODBYE_US);
    for (size_t i = 0; i < HONE_LIMIT_CONNECTIONS; i++)
        if (ws->conns[i])
            lws_callback_on_writable(ws->conns[i]->wsi);
    while (ws->n_conns > 0 && !ws->is_over)
        if (lws_service(ws->context, 0) < 0)
            break;
    lws_sul_cancel(&ws->goodbye_timer);
}

void hone_ws_stop(struct hone_ws *ws)
{
    atomic_store(&ws->is_stopping, true);
    wake(ws);
}

void hone_ws_free(struct hone_ws *ws)
{
    if (!ws)
        return;
    if (ws->context)
        lws_context_destroy(ws->context); /* closes what is left: closed() runs for each */
    queue_free(ws->outbox);
    pthread_mutex_destroy(&ws->lock);
    free(ws->chunk);
    free(ws);
}
