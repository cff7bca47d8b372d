/* SPDX-License-Identifier: Apache-2.0 */
/* A client for hone's own WebSocket endpoint: what `hone call --url` and `hone mcp --connect` use.
 * Client side of libwebsockets (net_ws.c is the server side).
 *
 * One call at a time, blocking. hone_ws_client_interrupt may come from any thread. */
#ifndef HONE_SERVER_NET_WS_CLIENT_H
#define HONE_SERVER_NET_WS_CLIENT_H

#include "tools/executor.h"
#include "workspace/base/json.h"

struct hone_ws_client; /* opaque */

/* url: ws://HOST:PORT/PATH[?query], or wss:// for a server whose certificate names HOST and is signed
 * by one that OpenSSL trusts (SSL_CERT_FILE adds one). token: sent as a bearer token, NULL: none (or it is in the
 * query). Borrowed. Connects with the first call. */
int hone_ws_client_new(const char *url, const char *token, struct hone_ws_client **ret,
                       struct hone_err *err);
/* Calls a tool. args_json: JSON text of an object. *ret_result (owned) is the structured content.
 * HONE_E_AUTH (refused), HONE_E_IO (cannot connect, connection lost), HONE_E_CANCEL (interrupted),
 * HONE_E_NOT_FOUND and HONE_E_ARG (protocol error with the server's message). */
int hone_ws_client_call(struct hone_ws_client *client, const char *tool, const char *args_json,
                        hone_progress_fn *on_progress, void *progress_arg,
                        struct hone_json **ret_result, bool *ret_is_error, struct hone_err *err);
/* Passes messages on until the input ends and every request is answered: a line from in_fd goes to
 * the server, a message from the server to out_fd, neither is looked into further than its id.
 * linger_ms: how long answers may take after the end of input. Codes as above. */
int hone_ws_client_relay(struct hone_ws_client *client, int in_fd, int out_fd, int64_t linger_ms,
                         struct hone_err *err);
void hone_ws_client_interrupt(struct hone_ws_client *client);
void hone_ws_client_free(struct hone_ws_client *client); /* NULL is fine */

#endif
