/* SPDX-License-Identifier: Apache-2.0 */
/* One loop thread owns every socket and every connection. Other threads only add to the outbox
 * (lock) and wake the loop.
 *
 *   text frame pieces -> conn.rx -> whole message -> peer -> ...
 *   ... -> send() -> outbox -> conn.queue -> frames
 *
 * Limits: message size (1009), queue of unsent bytes (the socket is not read above
 * QUEUE_PAUSE_BYTES and dropped above HONE_LIMIT_WS_QUEUE_BYTES), sockets, request head.
 * Connections are named by a serial number outside the loop, for they may be gone when
 * an answer comes. A serial with HONE_HTTP_SERIAL names a session over HTTP (net_http.c).
 *
 * libwebsockets 4.1.6 needs these, each with a test in tests/e2e/ws_*_test.c:
 *   - an address as `iface` may listen on every address: IPv6 off for IPv4, then getsockname
 *     decides;
 *   - an upgrade to anything but websocket is refused before the library looks at it again (use
 *     after free; h2c);
 *   - no sub-protocol or an unknown one binds to protocols[0]: each protocol refuses by default,
 *     and only the gate lets in;
 *   - CONNECT makes a raw socket: refused at adoption;
 *   - a POST body answered late can spin the loop once more bytes follow it: the second end of a
 *     body closes the connection, and every answer over HTTP does;
 *   - one write for one writable callback; only lws_cancel_service may be called from another
 *     thread;
 *   - its shutdown sends no close frame: hone_ws_run does.
 *   - of a header whose name begins another's ("A", "X-A") it misses the colon, takes the next line
 *     for more of the name and, where none comes, waits: the time limit of a head ends that. Nothing
 *     here can see it earlier; a swallowed Host or Authorization is a refusal.
 *
 * The library's own loop hands every socket to poll in each round, so idle connections make each
 * request dearer. Where its plugin for libuv is installed, that waits instead (epoll).
 *
 * The library hides the mask bit, so unmasked frames are read like masked ones; they are no risk to
 * an authenticated server. */
#include "server/rpc/net_internal.h"

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
#include <uv.h>
#include "workspace/base/clock.h"
#include "workspace/base/limits.h"
#include "workspace/base/log.h"

#define RX_BYTES           (16u << 10)
#define QUEUE_PAUSE_BYTES  (1u << 20)
#define QUEUE_RESUME_BYTES (256u << 10)
#define RX_KEEP_BYTES      (64u << 10) /* a larger collection buffer is given back */
#define AT_ONCE_BYTES      (8u << 10)
#define GOODBYE_US         (700 * 1000)
#define HEAD_SECONDS       10

struct hone_net_conn { /* lives in the library's per-connection memory */
    struct lws *wsi;
    struct hone_peer *peer;
    const struct hone_client *client;
    uint64_t serial;
    struct hone_buf rx;
    struct hone_net_message *queue, **queue_tail;
    size_t queue_bytes, n_sent; /* n_sent: of the first message */
    bool is_paused;
};

/* ---- from the peer to the socket ---- */

static void wake(struct hone_ws *ws)
{
    lws_cancel_service(ws->context);
}

static void queue_free(struct hone_net_message *message)
{
    while (message) {
        struct hone_net_message *next = message->next;
        free(message->text);
        free(message->call_id);
        free(message);
        message = next;
    }
}

static struct hone_net_conn *find_conn(struct hone_ws *ws, uint64_t serial)
{
    struct hone_net_conn *conn = ws->conns[serial % HONE_LIMIT_CONNECTIONS];
    return conn && conn->serial == serial ? conn : NULL;
}

static void kill_conn(struct hone_net_conn *conn, const char *why)
{
    hone_log(HONE_LOG_WARN, "event=drop connection=%llu why=\"%s\"",
             (unsigned long long)conn->serial, why);
    lws_set_timeout(conn->wsi, PENDING_TIMEOUT_USER_REASON_BASE, LWS_TO_KILL_ASYNC);
}

/* Most answers are short and their socket has room: they leave at once, which saves a round of the
 * loop. False: they have to wait for their turn to write. */
static bool write_at_once(struct hone_ws *ws, struct hone_net_conn *conn,
                          const struct hone_net_message *message)
{
    if (conn->queue || message->len > AT_ONCE_BYTES || ws->is_saying_goodbye ||
        lws_partial_buffered(conn->wsi)) /* what does not fit now, the library keeps */
        return false;
    memcpy(ws->chunk + LWS_PRE, message->text, message->len);
    if (lws_write(conn->wsi, ws->chunk + LWS_PRE, message->len, LWS_WRITE_TEXT) < (int)message->len)
        kill_conn(conn, "cannot write");
    return true;
}

/* Loop thread. message is moved. */
static void enqueue(struct hone_ws *ws, struct hone_net_message *message)
{
    if ((message->serial & HONE_HTTP_SERIAL) != 0) {
        const struct hone_peer_text text = {.text = HONE_STEAL(message->text),
                                            .len = message->len,
                                            .call_id = message->call_id,
                                            .is_answer = message->is_answer,
                                            .error_number = message->error_number};
        hone_http_deliver(ws->sessions, message->serial, &text);
        queue_free(message);
        return;
    }
    struct hone_net_conn *conn = find_conn(ws, message->serial);
    if (!conn || write_at_once(ws, conn, message)) {
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

static void send_message(void *arg, uint64_t serial, const struct hone_peer_text *sent)
{
    struct hone_ws *ws = arg;
    struct hone_net_message *message = hone_calloc(1, sizeof(*message));
    *message = (struct hone_net_message){
        .serial = serial,
        .text = sent->text,
        .len = sent->len,
        .call_id = sent->call_id != NULL ? hone_strdup(sent->call_id) : NULL,
        .is_answer = sent->is_answer,
        .error_number = sent->error_number};
    pthread_mutex_lock(&ws->lock);
    bool was_empty = !ws->outbox;
    if (was_empty && pthread_equal(pthread_self(), ws->loop)) { /* else behind what waits */
        pthread_mutex_unlock(&ws->lock);
        enqueue(ws, message);
        return;
    }
    *ws->outbox_tail = message;
    ws->outbox_tail = &message->next;
    pthread_mutex_unlock(&ws->lock);
    if (was_empty)
        wake(ws);
}

/* Only hone_peer_receive calls this, so it is the loop thread. */
static void drop(void *arg, uint64_t serial, const char *why)
{
    struct hone_ws *ws = arg;
    struct hone_net_conn *conn = (serial & HONE_HTTP_SERIAL) == 0 ? find_conn(ws, serial) : NULL;
    if (conn)
        kill_conn(conn, why);
}

const struct hone_transport hone_net_transport = {.send = send_message, .drop = drop};

static void deliver_outbox(struct hone_ws *ws)
{
    pthread_mutex_lock(&ws->lock);
    struct hone_net_message *message = HONE_STEAL(ws->outbox);
    ws->outbox_tail = &ws->outbox;
    pthread_mutex_unlock(&ws->lock);
    while (message) {
        struct hone_net_message *next = HONE_STEAL(message->next);
        enqueue(ws, message);
        message = next;
    }
}

static void message_sent(struct hone_net_conn *conn)
{
    struct hone_net_message *message = conn->queue;
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

static int writable(struct hone_ws *ws, struct hone_net_conn *conn)
{
    if (ws->is_saying_goodbye)
        return 0;
    const struct hone_net_message *message = conn->queue;
    if (!message)
        return 0;
    size_t left = message->len - conn->n_sent;
    size_t part = left < HONE_NET_CHUNK ? left : HONE_NET_CHUNK;
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

static int establish(struct hone_ws *ws, struct lws *wsi, struct hone_net_conn *conn)
{
    size_t slot = 0;
    while (slot < HONE_LIMIT_CONNECTIONS && ws->conns[slot])
        slot++;
    *conn = (struct hone_net_conn){.wsi = wsi};
    if (slot == HONE_LIMIT_CONNECTIONS)
        return -1;
    conn->serial = ++ws->turn * HONE_LIMIT_CONNECTIONS + slot;
    conn->rx.limit = HONE_LIMIT_WS_MESSAGE_BYTES + 1;
    conn->queue_tail = &conn->queue;
    ws->conns[slot] = conn;
    ws->n_conns++;
    struct hone_peer_spec spec = {
        .transport = &hone_net_transport,
        .transport_arg = ws,
        .serial = conn->serial,
        .handler = &hone_mcp_handler,
        .handler_arg = ws->spec->mcp,
        .parsers = hone_runtime_lane(ws->spec->mcp->runtime, HONE_LANE_QUICK),
        .client = hone_net_client(wsi),
        .turn = conn->serial,
    };
    conn->client = spec.client;
    conn->peer = hone_peer_new(&spec);
    return 0;
}

static void closed(struct hone_ws *ws, struct hone_net_conn *conn)
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

static int receive(struct hone_net_conn *conn, const char *bytes, size_t len)
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
        return hone_net_confirm_upgrade(wsi);
    case LWS_CALLBACK_EVENT_WAIT_CANCELLED:
        deliver_outbox(ws);
        return 0;
    case LWS_CALLBACK_FILTER_PROTOCOL_CONNECTION:
    case LWS_CALLBACK_ESTABLISHED:
    case LWS_CALLBACK_RECEIVE:
    case LWS_CALLBACK_RAW_ADOPT:
    case LWS_CALLBACK_RAW_RX:
        return -1;
    default:
        return hone_net_http(wsi, (int)reason, user, in, len);
    }
}

static int on_mcp(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in,
                  size_t len)
{
    struct hone_ws *ws = lws_context_user(lws_get_context(wsi));
    struct hone_net_conn *conn = user;
    const char *message;
    enum hone_net_method method;
    switch ((int)reason) {
    case LWS_CALLBACK_FILTER_PROTOCOL_CONNECTION:
        return hone_net_gate(wsi, &method, &message) == 0 && method == HONE_NET_GET ? 0 : -1;
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

/* "mcp" must not be first: a client without a sub-protocol gets the first. Not const: the size of
 * a connection over HTTP is another file's. */
static void fill_protocols(struct lws_protocols protocols[3])
{
    protocols[0] = (struct lws_protocols){.name = "hone-plain-http",
                                          .callback = on_http,
                                          .per_session_data_size = hone_net_http_conn_bytes()};
    protocols[1] = (struct lws_protocols){.name = "mcp",
                                          .callback = on_mcp,
                                          .per_session_data_size = sizeof(struct hone_net_conn),
                                          .rx_buffer_size = RX_BYTES};
    protocols[2] = (struct lws_protocols){.name = NULL};
}

static const lws_retry_bo_t idle_policy = {.secs_since_valid_ping = 30,
                                           .secs_since_valid_hangup = 45};

static void log_line(int level, const char *line)
{
    (void)level;
    hone_log(HONE_LOG_DEBUG, "event=lws text=\"%.*s\"", (int)strcspn(line, "\n"), line);
}

/* The library sizes its tables by the descriptor limit. Each connection may hold a socket and a few
 * descriptors of cancel flags. */
#define DESCRIPTORS 4096

static void set_descriptor_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur == DESCRIPTORS)
        return;
    limit.rlim_cur = limit.rlim_max < DESCRIPTORS ? limit.rlim_max : DESCRIPTORS;
    setrlimit(RLIMIT_NOFILE, &limit);
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
    for (int fd = 0; fd < DESCRIPTORS; fd++) {
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

/* ---- the loop ---- */

static void close_epoll(struct hone_ws *ws)
{
    if (!ws->epoll)
        return;
    uv_run(ws->epoll, UV_RUN_DEFAULT); /* ends when the library has closed what it had in there */
    if (ws->context)
        lws_context_destroy(ws->context); /* its last part */
    uv_loop_close(ws->epoll);
    free(HONE_STEAL(ws->epoll));
}

/* With the plugin of libuv where there is one, else with poll. */
static void create_context(struct hone_ws *ws, const struct lws_context_creation_info *info)
{
    struct lws_context_creation_info with_uv = *info;
    ws->epoll = hone_calloc(1, sizeof(*ws->epoll));
    void *loops[] = {ws->epoll};
    with_uv.options |= LWS_SERVER_OPTION_LIBUV;
    with_uv.foreign_loops = loops;
    if (uv_loop_init(ws->epoll) == 0) {
        ws->context = lws_create_context(&with_uv);
        if (ws->context)
            return;
        uv_loop_close(ws->epoll);
    }
    free(HONE_STEAL(ws->epoll));
    hone_log(HONE_LOG_DEBUG, "event=loop kind=poll");
    ws->context = lws_create_context(info);
}

static void destroy_context(struct hone_ws *ws)
{
    if (ws->context)
        lws_context_destroy(ws->context); /* closes what is left: closed() runs for each */
    close_epoll(ws);
}

/* One round. false: the library gave up. */
static bool serve_round(struct hone_ws *ws)
{
    if (!ws->epoll)
        return lws_service(ws->context, 0) >= 0;
    uv_run(ws->epoll, UV_RUN_ONCE);
    /* The plugin of 4.1 sleeps over bytes that the library has read and not handed on. */
    if (lws_service_adjust_timeout(ws->context, 1, 0) == 0)
        wake(ws);
    return true;
}

static int bind_and_check(struct hone_ws *ws, const char *host, struct hone_err *err)
{
    struct in_addr v4;
    bool is_v4 = inet_pton(AF_INET, host, &v4) == 1;
    int rc = try_bind(host, ws->spec->port, is_v4, err);
    if (rc < 0)
        return rc;
    fill_protocols(ws->protocols);
    struct lws_context_creation_info info = {
        .port = ws->spec->port,
        .iface = host,
        .protocols = ws->protocols,
        .user = ws,
        /* int in libwebsockets 4.1, unsigned in 4.3 */
        .gid = (__typeof__(info.gid))-1,
        .uid = (__typeof__(info.uid))-1,
        .options = LWS_SERVER_OPTION_VALIDATE_UTF8 | LWS_SERVER_OPTION_FAIL_UPON_UNABLE_TO_BIND |
                   (is_v4 ? LWS_SERVER_OPTION_DISABLE_IPV6 : 0) |
                   (ws->spec->certificate ? LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT : 0),
        .ssl_cert_filepath = ws->spec->certificate,
        .ssl_private_key_filepath = ws->spec->key,
        .max_http_header_data2 = HONE_LIMIT_HEAD_BYTES,
        .max_http_header_pool = HONE_LIMIT_CONNECTIONS + HONE_LIMIT_HALF_OPEN,
        .pt_serv_buf_size = RX_BYTES,
        .timeout_secs = HEAD_SECONDS,
        .retry_and_idle_policy = &idle_policy,
        .alpn = "http/1.1",
        .pcontext = &ws->context, /* NULL once it is freed */
    };
    create_context(ws, &info);
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
    if (!spec->clients && !hone_is_loopback(host))
        return hone_fail(err, HONE_E_AUTH,
                         "a server without a token listens on loopback only, not on %s", host);
    set_descriptor_limit();
    lws_set_log_level(LLL_ERR | LLL_WARN, log_line);
    struct hone_ws *ws = hone_calloc(1, sizeof(*ws));
    ws->spec = spec;
    ws->loop = pthread_self();
    ws->outbox_tail = &ws->outbox;
    ws->chunk = hone_malloc(LWS_PRE + HONE_NET_CHUNK);
    ws->protocols = hone_calloc(3, sizeof(*ws->protocols)); /* the library keeps the pointer */
    ws->sessions = hone_net_http_sessions();
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

/* Connections of tokens that were removed end within a second. */
#define LOOK_US (1000 * 1000)

struct look {
    lws_sorted_usec_list_t timer;
    struct hone_ws *ws;
};

static void look_at_clients(lws_sorted_usec_list_t *timer)
{
    struct look *look = lws_container_of(timer, struct look, timer);
    struct hone_ws *ws = look->ws;
    hone_clients_refresh(ws->spec->clients);
    for (size_t i = 0; i < HONE_LIMIT_CONNECTIONS; i++)
        if (ws->conns[i] && hone_client_is_removed(ws->conns[i]->client))
            kill_conn(ws->conns[i], "its token was removed");
    hone_http_end_removed(ws->sessions);
    lws_sul_schedule(ws->context, 0, timer, look_at_clients, LOOK_US);
}

struct goodbye {
    lws_sorted_usec_list_t timer;
    struct hone_ws *ws;
};

static void goodbye_over(lws_sorted_usec_list_t *timer)
{
    struct goodbye *goodbye = lws_container_of(timer, struct goodbye, timer);
    goodbye->ws->is_over = true;
    wake(goodbye->ws);
}

/* Not by the result of a callback: with libuv, Debian 12's library closes twice for that, and the
 * second time drops the frame. */
static void say_goodbye(struct lws *wsi)
{
    lws_close_reason(wsi, LWS_CLOSE_STATUS_GOINGAWAY, NULL, 0);
    lws_set_timeout(wsi, PENDING_TIMEOUT_USER_REASON_BASE, LWS_TO_KILL_SYNC);
}

void hone_ws_run(struct hone_ws *ws)
{
    ws->loop = pthread_self();
    struct look look = {.ws = ws};
    if (ws->spec->clients)
        lws_sul_schedule(ws->context, 0, &look.timer, look_at_clients, LOOK_US);
    while (!atomic_load(&ws->is_stopping))
        if (!serve_round(ws))
            break;
    lws_sul_cancel(&look.timer);
    ws->is_saying_goodbye = true;
    struct goodbye goodbye = {.ws = ws};
    lws_sul_schedule(ws->context, 0, &goodbye.timer, goodbye_over, GOODBYE_US);
    for (size_t i = 0; i < HONE_LIMIT_CONNECTIONS; i++)
        if (ws->conns[i])
            say_goodbye(ws->conns[i]->wsi);
    wake(ws); /* so that the timer is seen */
    while (ws->n_conns > 0 && !ws->is_over)
        if (!serve_round(ws))
            break;
    lws_sul_cancel(&goodbye.timer);
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
    destroy_context(ws);
    hone_http_sessions_free(ws->sessions);
    queue_free(ws->outbox);
    free(ws->protocols);
    pthread_mutex_destroy(&ws->lock);
    free(ws->chunk);
    free(ws);
}
