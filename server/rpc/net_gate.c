/* SPDX-License-Identifier: Apache-2.0 */
/* Who is let in: what every request has to pass, and refusals as whole HTTP answers. */
#include <libwebsockets.h>
#include <stdlib.h>
#include <string.h>

#include "server/page/page.h"
#include "server/rpc/net_internal.h"
#include "workspace/base/clock.h"

struct hone_ws *hone_net_of(struct lws *wsi)
{
    return lws_context_user(lws_get_context(wsi));
}

static const struct {
    unsigned status;
    const char *reason;
} reasons[] = {
    {400, "Bad Request"},      {401, "Unauthorized"},       {403, "Forbidden"},
    {404, "Not Found"},        {405, "Method Not Allowed"}, {406, "Not Acceptable"},
    {411, "Length Required"},  {413, "Content Too Large"},  {415, "Unsupported Media Type"},
    {426, "Upgrade Required"}, {503, "Service Unavailable"}};

int hone_net_refuse(struct lws *wsi, unsigned status, const char *id_text, const char *message)
{
    if (status == 401 || status == 403)
        hone_audit_refusal(hone_net_of(wsi)->spec->mcp->audit, status, message);
    HONE_AUTOFREE char *body = hone_rpc_error(
        id_text != NULL ? id_text : "null",
        status == 401 ? hone_rpc_number(HONE_E_AUTH) : HONE_RPC_INVALID, message, NULL);
    return hone_net_refuse_with(wsi, status, body);
}

int hone_net_refuse_with(struct lws *wsi, unsigned status, const char *body)
{
    const char *reason = "Error";
    for (size_t i = 0; i < HONE_COUNTOF(reasons); i++)
        if (reasons[i].status == status)
            reason = reasons[i].reason;
    HONE_AUTOFREE char *text =
        hone_sprintf("HTTP/1.1 %u %s\r\n%s%sContent-Type: application/json\r\nContent-Length: "
                     "%zu\r\nConnection: close\r\n\r\n%s",
                     status, reason, status == 401 ? "WWW-Authenticate: Bearer\r\n" : "",
                     status == 405 ? "Allow: GET, POST, DELETE\r\n" : "", strlen(body), body);
    size_t len = strlen(text);
    HONE_AUTOFREE unsigned char *out = hone_malloc(LWS_PRE + len);
    memcpy(out + LWS_PRE, text, len);
    lws_write(wsi, out + LWS_PRE, len, LWS_WRITE_HTTP);
    return -1;
}

char *hone_net_header(struct lws *wsi, int token)
{
    int len = lws_hdr_total_length(wsi, (enum lws_token_indexes)token);
    if (len <= 0)
        return NULL;
    char *text = hone_calloc(1, (size_t)len + 1);
    if (lws_hdr_copy(wsi, text, len + 1, (enum lws_token_indexes)token) < 0) {
        free(text);
        return NULL;
    }
    return text;
}

char *hone_net_custom_header(struct lws *wsi, const char *name)
{
    int len = lws_hdr_custom_length(wsi, name, (int)strlen(name));
    if (len < 0)
        return NULL;
    char *text = hone_calloc(1, (size_t)len + 1);
    if (lws_hdr_custom_copy(wsi, text, len + 1, name, (int)strlen(name)) < 0) {
        free(text);
        return NULL;
    }
    return text;
}

/* The path, whatever the method; owned. */
static char *request_path(struct lws *wsi, enum hone_net_method *ret)
{
    static const struct {
        enum lws_token_indexes token;
        enum hone_net_method method;
    } rows[] = {{WSI_TOKEN_GET_URI, HONE_NET_GET},       {WSI_TOKEN_POST_URI, HONE_NET_POST},
                {WSI_TOKEN_DELETE_URI, HONE_NET_DELETE}, {WSI_TOKEN_OPTIONS_URI, HONE_NET_OTHER},
                {WSI_TOKEN_PUT_URI, HONE_NET_OTHER},     {WSI_TOKEN_PATCH_URI, HONE_NET_OTHER},
                {WSI_TOKEN_HEAD_URI, HONE_NET_OTHER}};
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        char *path = hone_net_header(wsi, (int)rows[i].token);
        if (path == NULL)
            continue;
        *ret = rows[i].method;
        return path;
    }
    return NULL;
}

struct hone_client *hone_net_client(struct lws *wsi)
{
    const struct hone_ws *ws = hone_net_of(wsi);
    struct hone_clients *clients = ws->spec->clients;
    HONE_AUTOFREE char *authorization = hone_net_header(wsi, WSI_TOKEN_HTTP_AUTHORIZATION);
    HONE_AUTOFREE char *protocols = hone_net_header(wsi, WSI_TOKEN_PROTOCOL);
    HONE_AUTOFREE char *from_protocol = hone_auth_bearer_protocol(protocols);
    HONE_AUTOFREE char *cookie = hone_net_header(wsi, WSI_TOKEN_HTTP_COOKIE);
    char query[HONE_LIMIT_TOKEN_BYTES + 1];
    const char *const shown[] = {hone_auth_bearer(authorization), from_protocol,
                                 lws_get_urlarg_by_name(wsi, "token=", query, sizeof(query))};
    struct hone_client *client = NULL;
    if (clients == NULL)
        return NULL;
    for (size_t i = 0; i < HONE_COUNTOF(shown) && client == NULL; i++)
        client = hone_clients_find(clients, shown[i]);
    return client != NULL ? client
                          : hone_clients_by_cookie(clients, ws->port, cookie, hone_now_ns());
}

/* Host and Origin come first, so that a page of another site learns nothing, not even whether a
 * token is right. */
unsigned hone_net_gate(struct lws *wsi, enum hone_net_method *ret_method, const char **ret_message)
{
    const struct hone_ws *ws = hone_net_of(wsi);
    HONE_AUTOFREE char *host = hone_net_header(wsi, WSI_TOKEN_HOST);
    HONE_AUTOFREE char *origin = hone_net_header(wsi, WSI_TOKEN_ORIGIN);
    *ret_method = HONE_NET_OTHER;
    HONE_AUTOFREE char *path = request_path(wsi, ret_method);
    *ret_message = "Host must name this server: 127.0.0.1 or localhost (see --allow-host)";
    if (!hone_access_host(&ws->spec->access, host))
        return 403;
    *ret_message = "this Origin may not connect (see --allow-origin)";
    if (!hone_access_origin(&ws->spec->access, origin, host))
        return 403;
    bool is_upgrade = lws_hdr_total_length(wsi, WSI_TOKEN_UPGRADE) > 0;
    if (path && !is_upgrade && *ret_method == HONE_NET_GET && hone_page_find(path) != NULL)
        return 0;
    *ret_message = "the paths are /mcp, and / for a browser";
    if (!path || strcmp(path, "/mcp") != 0)
        return 404;
    *ret_message = "a token is needed: header Authorization: Bearer, query ?token=, or "
                   "sub-protocol bearer.TOKEN";
    if (ws->spec->clients && !hone_net_client(wsi))
        return 401;
    *ret_message =
        "GET upgrades to WebSocket or resumes a stream, POST sends a message, DELETE ends "
        "a session";
    if (*ret_method == HONE_NET_OTHER)
        return 405;
    return 0;
}

int hone_net_confirm_upgrade(struct lws *wsi)
{
    const struct hone_ws *ws = hone_net_of(wsi);
    HONE_AUTOFREE char *upgrade = hone_net_header(wsi, WSI_TOKEN_UPGRADE);
    HONE_AUTOFREE char *version = hone_net_header(wsi, WSI_TOKEN_VERSION);
    HONE_AUTOFREE char *key = hone_net_header(wsi, WSI_TOKEN_KEY);
    HONE_AUTOFREE char *protocols = hone_net_header(wsi, WSI_TOKEN_PROTOCOL);
    const char *message;
    enum hone_net_method method;
    unsigned status = hone_net_gate(wsi, &method, &message);
    if (status == 0 && method != HONE_NET_GET)
        status = 405;
    if (status != 0)
        return hone_net_refuse(wsi, status, NULL, message);
    if (!upgrade || strcasecmp(upgrade, "websocket") != 0)
        return hone_net_refuse(wsi, 400, NULL, "the only upgrade is websocket");
    if (!version || strcmp(version, "13") != 0)
        return hone_net_refuse(wsi, 426, NULL, "Sec-WebSocket-Version must be 13");
    if (!key || strlen(key) != 24)
        return hone_net_refuse(wsi, 400, NULL, "Sec-WebSocket-Key must be 16 bytes in base64");
    if (!hone_auth_offers(protocols, "mcp"))
        return hone_net_refuse(wsi, 400, NULL, "offer the sub-protocol mcp");
    if (strlen(protocols) > 120) /* the library cuts the list at 128 bytes */
        return hone_net_refuse(wsi, 400, NULL, "the list of sub-protocols is too long");
    if (ws->n_conns >= HONE_LIMIT_CONNECTIONS)
        return hone_net_refuse(wsi, 503, NULL, "too many connections; close one first");
    return 0;
}
