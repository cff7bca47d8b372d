/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the socket code share: the server's state, the gate that every request passes,
 * and refusals. net_ws.c has the loop and WebSocket, net_gate.c the gate, net_http.c MCP over HTTP.
 * Loop thread, but for the outbox. */
#ifndef HONE_SERVER_NET_INTERNAL_H
#define HONE_SERVER_NET_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "server/rpc/http_sessions.h"
#include "server/rpc/net_ws.h"

struct lws;
struct lws_context;
struct hone_net_conn; /* a WebSocket's, net_ws.c */
struct lws_protocols;
struct uv_loop_s;

struct hone_net_message { /* on its way from a peer to its socket */
    uint64_t serial;
    char *text; /* owned */
    size_t len;
    char *call_id; /* owned, for sessions over HTTP; NULL: none */
    bool is_answer;
    int error_number;
    struct hone_net_message *next;
};

struct hone_ws {
    struct lws_context *context;
    struct uv_loop_s *epoll; /* waits for the context; NULL: the library polls */
    const struct hone_ws_spec *spec;
    pthread_t loop;
    int port;
    atomic_bool is_stopping;
    bool is_saying_goodbye, is_over; /* loop thread */
    size_t n_sockets, n_conns;       /* loop thread */
    struct hone_net_conn
        *conns[HONE_LIMIT_CONNECTIONS]; /* by serial % HONE_LIMIT_CONNECTIONS; loop thread */
    uint64_t turn;                      /* loop thread: makes serials unique */
    pthread_mutex_t lock;
    struct hone_net_message *outbox, **outbox_tail; /* lock */
    unsigned char *chunk;                           /* loop thread: LWS_PRE + HONE_NET_CHUNK */
    struct hone_http_sessions *sessions;            /* loop thread */
    struct lws_protocols *protocols;                /* of the context */
};
#define HONE_NET_CHUNK (32u << 10) /* bytes of one write */

extern const struct hone_transport hone_net_transport; /* its argument is the struct hone_ws */

enum hone_net_method { HONE_NET_GET, HONE_NET_POST, HONE_NET_DELETE, HONE_NET_OTHER };

struct hone_ws *hone_net_of(struct lws *wsi);
/* A header as it came, NULL when absent; owned. token: enum lws_token_indexes. */
char *hone_net_header(struct lws *wsi, int token);
/* Of a header that the library has no name for: lower case, with the colon ("mcp-session-id:"). */
char *hone_net_custom_header(struct lws *wsi, const char *name);
/* Who sent the request: by Authorization: Bearer, sub-protocol bearer.TOKEN, ?token= or the cookie
 * of clients.h. NULL: nobody that the server knows. */
struct hone_client *hone_net_client(struct lws *wsi);
/* What every request has to pass: 0, or the HTTP status of the refusal with its message. */
unsigned hone_net_gate(struct lws *wsi, enum hone_net_method *ret_method, const char **ret_message);
/* Writes a whole answer and asks for the end of the connection: the result is what a callback
 * returns. id_text NULL: null. */
int hone_net_refuse(struct lws *wsi, unsigned status, const char *id_text, const char *message);
/* The same with the body as it is. */
int hone_net_refuse_with(struct lws *wsi, unsigned status, const char *body);
/* 0: this request may become a WebSocket; else it was refused. */
int hone_net_confirm_upgrade(struct lws *wsi);

/* net_page.c: a GET of one of the page's files; the whole answer. false: it is none. The gate has let
 * the request pass. */
bool hone_net_page(struct lws *wsi, struct hone_buf *out);
/* net_http.c: every callback of a connection that is no WebSocket; -1 ends it. */
int hone_net_http(struct lws *wsi, int reason, void *user, void *in, size_t len);
size_t hone_net_http_conn_bytes(void); /* of the library's memory for each connection */
struct hone_http_sessions *hone_net_http_sessions(void);

#endif
