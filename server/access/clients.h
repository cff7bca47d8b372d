/* SPDX-License-Identifier: Apache-2.0 */
/* Who talks to a running server: the holder of a token, with a role and limits.
 *
 * The workspace's own token (.hone/token) is the client "owner"; the others are the rows of
 * .hone/tokens (grants.h), which is read again when it changes. A client lives as long as the table,
 * so a pointer stays good; one whose token was removed is refused from then on.
 *
 * A page shows its token once and is then known by a cookie:
 *
 *     client = hone_clients_find(clients, token);
 *     hone_clients_cookie(clients, client, hone_now_ns(), value);     Set-Cookie: hone-PORT=VALUE
 *     client = hone_clients_by_cookie(clients, port, cookie_header, hone_now_ns());
 *
 * A browser keeps one set of cookies for all ports of a host; the port in the name keeps two servers
 * apart.
 *
 * Any thread. */
#ifndef HONE_SERVER_CLIENTS_H
#define HONE_SERVER_CLIENTS_H

#include "server/access/grants.h"

struct hone_clients; /* opaque */
struct hone_client;  /* opaque */

/* path: of the named tokens. owner_token is borrowed for the call. */
struct hone_clients *hone_clients_new(const char *path, const char *owner_token);
void hone_clients_free(struct hone_clients *clients); /* NULL is fine */
/* Looks whether the file changed. */
void hone_clients_refresh(struct hone_clients *clients);

/* Whose token it is; NULL: nobody's. In a time that does not depend on where a token differs. */
struct hone_client *hone_clients_find(struct hone_clients *clients, const char *token);

#define HONE_COOKIE_NAME  "hone-%d" /* of the port */
#define HONE_COOKIE_BYTES 65        /* 64 hex digits and NUL */
/* A fresh cookie's value. It dies with the server, with its token, and after twelve hours unused. */
void hone_clients_cookie(struct hone_clients *clients, struct hone_client *client, int64_t now_ns,
                         char ret_value[HONE_COOKIE_BYTES]);
/* header: of a request, "a=1; hone-7411=VALUE"; NULL: none. */
struct hone_client *hone_clients_by_cookie(struct hone_clients *clients, int port,
                                           const char *header, int64_t now_ns);

/* NULL stands for a server that asks for no token (--auth none), or a pipe: its client is the owner
 * and has no limits. */
const char *hone_client_name(const struct hone_client *client);
enum hone_access_role hone_client_role(const struct hone_client *client);
bool hone_client_is_removed(const struct hone_client *client);
/* Counts a request. HONE_E_AUTH: the token was removed; HONE_E_BUSY: too many in the last seconds. */
int hone_client_request(struct hone_client *client, int64_t now_ns, struct hone_err *err);
/* Counts a tool call until hone_client_end. HONE_E_BUSY: too many at a time. */
int hone_client_begin(struct hone_client *client, struct hone_err *err);
void hone_client_end(struct hone_client *client);

#endif
