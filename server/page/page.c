/* SPDX-License-Identifier: Apache-2.0 */
#include "server/page/page.h"

#include <stdlib.h>
#include <string.h>

#include "server/page/packed.h"
#include "workspace/base/buf.h"
#include "workspace/base/embed.h"
#include "workspace/base/hash.h"

/* Files of the bundle that .ci/page made; its folder is the assembler's -I. */
HONE_EMBED(hone_page_html, "index.html");
HONE_EMBED(hone_page_css, "page.css");
HONE_EMBED(hone_page_js, "page.js");

/* Nothing from elsewhere, nothing inline, no frame around it: a kernel's text that comes to be taken
 * for a script could still not run. */
#define POLICY                                                                                     \
    "default-src 'self'; connect-src 'self' ws: wss:; img-src 'self' data:; base-uri 'none'; "     \
    "form-action 'self'; frame-ancestors 'none'"

const struct hone_page_file *hone_page_find(const char *path)
{
    static const struct hone_page_file files[] = {
        {"/", "text/html; charset=utf-8", hone_page_html},
        {"/page.css", "text/css; charset=utf-8", hone_page_css},
        {"/page.js", "text/javascript; charset=utf-8", hone_page_js},
    };
    size_t len = strcspn(path, "?");
    for (size_t i = 0; i < HONE_COUNTOF(files); i++)
        if (strlen(files[i].path) == len && strncmp(files[i].path, path, len) == 0)
            return &files[i];
    return NULL;
}

char *hone_page_head(const struct hone_page_file *file, const char *if_none_match,
                     bool *ret_has_body)
{
    char hash[HONE_HASH_TEXT_BYTES];
    size_t len = strlen(file->text);
    hone_hash(file->text, len, hash);
    HONE_AUTOFREE char *etag = hone_sprintf("\"%.16s\"", hash);
    *ret_has_body = if_none_match == NULL || strcmp(if_none_match, etag) != 0;
    return hone_sprintf("HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\nETag: %s\r\n"
                        "Cache-Control: no-cache\r\nContent-Security-Policy: " POLICY "\r\n"
                        "X-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n"
                        "Connection: close\r\n\r\n",
                        *ret_has_body ? "200 OK" : "304 Not Modified", file->type,
                        *ret_has_body ? len : (size_t)0, etag);
}

char *hone_page_static(const struct hone_json *data)
{
    static const char link[] = "<link rel=\"stylesheet\" href=\"/page.css\">",
                      script[] = "<script src=\"/page.js\" defer></script>";
    const char *css_at = strstr(hone_page_html, link), *js_at = strstr(hone_page_html, script);
    HONE_AUTOFREE char *text = hone_json_print(data);
    HONE_AUTOFREE char *packed = hone_packed(text, strlen(text));
    struct hone_buf out = HONE_BUF_INIT;
    if (css_at == NULL || js_at == NULL || js_at < css_at)
        abort(); /* the page's own file; a test reads it */
    hone_buf_add(&out, hone_page_html, (size_t)(css_at - hone_page_html));
    hone_buf_printf(&out, "<style>\n%s</style>", hone_page_css);
    css_at += sizeof(link) - 1;
    hone_buf_add(&out, css_at, (size_t)(js_at - css_at));
    hone_buf_str(&out, "<script type=\"text/plain\" id=\"data\">");
    hone_buf_str(&out, packed);
    hone_buf_str(&out, "</script>\n<script>\n");
    hone_buf_str(&out, hone_page_js);
    hone_buf_str(&out, "</script>");
    hone_buf_str(&out, js_at + sizeof(script) - 1);
    return hone_buf_steal(&out);
}
