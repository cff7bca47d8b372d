/* SPDX-License-Identifier: Apache-2.0 */
/* Who may talk to the server: token, Host and Origin. Pure checks, no sockets; any thread. */
#ifndef HONE_SERVER_AUTH_H
#define HONE_SERVER_AUTH_H

#include "workspace/base/err.h"

/* Reads the token of a workspace (DIR/.hone/token), making a fresh one (0600) when there is none.
 * Owned by the caller. HONE_E_AUTH when others may read the file or somebody else owns it. */
int hone_token_load(const char *path, bool create, char **ret_token, struct hone_err *err);

/* "Bearer xyz" -> "xyz", NULL otherwise; borrowed. */
const char *hone_auth_bearer(const char *authorization);
/* The token in a list of WebSocket sub-protocols ("mcp, bearer.xyz"); owned, NULL: none. */
char *hone_auth_bearer_protocol(const char *protocols);
/* True when the comma list of sub-protocols names this one. */
bool hone_auth_offers(const char *protocols, const char *name);

/* Splits "127.0.0.1:7411" or "[::1]:7411" or "localhost"; HONE_E_ARG. Port -1 when absent. host is
 * owned, without brackets. */
int hone_split_address(const char *text, char **ret_host, int *ret_port, struct hone_err *err);
bool hone_is_loopback(const char *host);

struct hone_access {  /* what a server accepts */
    bool is_loopback; /* listens on loopback: Host must be a loopback name (DNS rebinding) */
    const char *allowed_hosts; /* comma list of further names, or NULL */
    const char
        *allowed_origins; /* comma list of further origins ("https://ui.example.com"), or NULL */
};
/* Host header, NULL when absent. Loopback servers accept loopback names; others also any literal
 * address and allowed_hosts. */
bool hone_access_host(const struct hone_access *access, const char *host);
/* Origin header, NULL when absent (programs send none: accepted). Else it must be the server's own
 * (same authority as Host) or listed. */
bool hone_access_origin(const struct hone_access *access, const char *origin, const char *host);

#endif
