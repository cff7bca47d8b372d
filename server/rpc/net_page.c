/* SPDX-License-Identifier: Apache-2.0 */
/* GET of the page's files. A token in the query becomes a cookie that scripts cannot read, and the
 * address loses it: it stays in no history and in no picture of the screen. The files themselves
 * tell nothing and ask for no token; what they show comes over /mcp, which does. */
#include <libwebsockets.h>
#include <string.h>

#include "server/page/page.h"
#include "server/rpc/net_internal.h"
#include "workspace/base/clock.h"

/* The client of ?token=; NULL: none is shown, or it is nobody's. */
static struct hone_client *client_of_query(struct lws *wsi)
{
    struct hone_clients *clients = hone_net_of(wsi)->spec->clients;
    char query[HONE_LIMIT_TOKEN_BYTES + 1];
    const char *token = lws_get_urlarg_by_name(wsi, "token=", query, sizeof(query));
    return clients != NULL && token != NULL ? hone_clients_find(clients, token) : NULL;
}

static void put_cookie(struct lws *wsi, struct hone_client *client, struct hone_buf *out)
{
    char value[HONE_COOKIE_BYTES];
    const struct hone_ws *ws = hone_net_of(wsi);
    hone_clients_cookie(ws->spec->clients, client, hone_now_ns(), value);
    hone_buf_printf(out,
                    "HTTP/1.1 303 See Other\r\nLocation: /\r\nSet-Cookie: " HONE_COOKIE_NAME
                    "=%s; Path=/; HttpOnly; SameSite=Strict%s\r\nCache-Control: no-store\r\n"
                    "Content-Length: 0\r\nConnection: close\r\n\r\n",
                    ws->port, value, ws->spec->certificate != NULL ? "; Secure" : "");
}

bool hone_net_page(struct lws *wsi, struct hone_buf *out)
{
    HONE_AUTOFREE char *path = hone_net_header(wsi, WSI_TOKEN_GET_URI);
    const struct hone_page_file *file = path != NULL ? hone_page_find(path) : NULL;
    bool has_body;
    if (file == NULL)
        return false;
    struct hone_client *client = strcmp(file->path, "/") == 0 ? client_of_query(wsi) : NULL;
    if (client != NULL) {
        put_cookie(wsi, client, out);
        return true;
    }
    HONE_AUTOFREE char *known = hone_net_header(wsi, WSI_TOKEN_HTTP_IF_NONE_MATCH);
    HONE_AUTOFREE char *head = hone_page_head(file, known, &has_body);
    hone_buf_str(out, head);
    if (has_body)
        hone_buf_str(out, file->text);
    return true;
}
