/* SPDX-License-Identifier: Apache-2.0 */
/* Tells a client when resources that it subscribed to change. A watch reads them twice a second on a
 * worker of its own, as long as it has any; it serves one connection (resources/subscribe) or one
 * long request (subscriptions/listen). */
#ifndef HONE_SERVER_MCP_WATCH_H
#define HONE_SERVER_MCP_WATCH_H

#include "server/rpc/mcp.h"

struct hone_mcp_watch; /* opaque */

/* Of a connection; peer is borrowed, and the watch is freed when the peer's handler closes. */
struct hone_mcp_watch *hone_mcp_watch_new(const struct hone_mcp *mcp, struct hone_peer *peer);
void hone_mcp_watch_free(struct hone_mcp_watch *watch); /* NULL is fine */
/* HONE_E_LIMIT above HONE_LIMIT_SUBSCRIPTIONS, HONE_E_BUSY: no worker. Twice is once. */
int hone_mcp_watch_add(struct hone_mcp_watch *watch, const char *uri, struct hone_err *err);
void hone_mcp_watch_remove(struct hone_mcp_watch *watch, const char *uri);

/* Of a request, which stays open until it is cancelled; id_text: its id. Frees itself. */
int hone_mcp_watch_listen(const struct hone_mcp *mcp, struct hone_call *call, const char *id_text,
                          const struct hone_json *uris, struct hone_err *err);

#endif
