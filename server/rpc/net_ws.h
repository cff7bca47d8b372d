/* SPDX-License-Identifier: Apache-2.0 */
/* MCP over WebSocket at ws://HOST:PORT/mcp, and over HTTP at http://HOST:PORT/mcp. The net_*.c files
 * are the only owners of libwebsockets.
 *
 * WebSocket: one JSON-RPC message is one text frame, sub-protocol "mcp", one connection is one
 * session. HTTP: net_http.c. One thread runs the loop; answers come from any thread. */
#ifndef HONE_SERVER_NET_WS_H
#define HONE_SERVER_NET_WS_H

#include "server/access/clients.h"
#include "server/rpc/auth.h"
#include "server/rpc/mcp.h"

struct hone_ws; /* opaque */

struct hone_ws_spec {              /* all borrowed, outlive the server */
    const char *host;              /* literal address or "localhost" */
    int port;                      /* 0: a free one */
    struct hone_clients *clients;  /* NULL: no token is wanted (loopback only) */
    const char *certificate, *key; /* PEM files: TLS; both NULL: none */
    struct hone_access access;
    const struct hone_mcp *mcp;
};

/* Binds and checks with getsockname that nothing but the wanted address is listened on. HONE_E_ARG,
 * HONE_E_BUSY (port taken). */
int hone_ws_new(const struct hone_ws_spec *spec, struct hone_ws **ret, struct hone_err *err);
int hone_ws_port(const struct hone_ws *ws);
/* Serves until hone_ws_stop, then says goodbye (1001) to every client and returns within a second.
 * The thread that called hone_ws_new. */
void hone_ws_run(struct hone_ws *ws);
void hone_ws_stop(struct hone_ws *ws); /* any thread */
void hone_ws_free(struct hone_ws *ws); /* NULL is fine */

#endif
