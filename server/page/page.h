/* SPDX-License-Identifier: Apache-2.0 */
/* The page: files that travel inside of the program, and the one file that needs no server.
 *
 * GET / of a server is the page; it speaks the same JSON-RPC as agents, over WebSocket at /mcp. The
 * static form holds its data in a script element and asks nobody.
 *
 *     const struct hone_page_file *file = hone_page_find("/");
 *     char *head = hone_page_head(file, etag_of_the_request);       owned, with the empty line
 *
 * Constant data; any thread. */
#ifndef HONE_SERVER_PAGE_H
#define HONE_SERVER_PAGE_H

#include "workspace/base/json.h"

struct hone_page_file {
    const char *path; /* "/", "/page.js" */
    const char *type; /* of the content */
    const char *text; /* NUL-terminated */
};

/* NULL: no such file. A query behind the path does not count. */
const struct hone_page_file *hone_page_find(const char *path);
/* Status line and headers of an answer; 304 where the client has the file (if_none_match, NULL: it
 * does not say). Owned. *ret_has_body: the text follows. */
char *hone_page_head(const struct hone_page_file *file, const char *if_none_match,
                     bool *ret_has_body);
/* The page with everything inlined and the data that it shows: one HTML file. Owned. */
char *hone_page_static(const struct hone_json *data);

#endif
