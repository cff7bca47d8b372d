/* SPDX-License-Identifier: Apache-2.0 */
/* Resources: what a client may read by URI and a range of lines, beside what tools answer. One table;
 * a row names the tool that has the text. */
#ifndef HONE_SERVER_MCP_RESOURCES_H
#define HONE_SERVER_MCP_RESOURCES_H

#include "server/rpc/mcp_request.h"

struct hone_mcp_resource { /* a row */
    const char *uri;       /* at most one {variable} */
    const char *name, *title, *description, *mime;
    const char *tool, *argument, *more; /* more: further arguments, JSON members */
    const char *member;                 /* a string of the answer; NULL: all of it */
    /* Instead of a tool: owned; NULL: there is none of that value. */
    char *(*text)(const struct hone_mcp *mcp, const char *value);
    bool is_base64; /* the text is bytes, encoded */
};

hone_mcp_method_fn hone_mcp_resources_list, hone_mcp_resources_templates, hone_mcp_resources_read;

/* The text of a resource, owned; NULL: HONE_E_NOT_FOUND, or why its tool failed. ret_row may be
 * NULL. Blocks as long as a read-only tool does. */
char *hone_mcp_resource_text(const struct hone_mcp *mcp, const char *caller, const char *uri,
                             const struct hone_mcp_resource **ret_row, struct hone_err *err);
/* True where the URI has the form of one of ours. */
bool hone_mcp_resource_is_known(const struct hone_mcp *mcp, const char *uri);
/* The name in the template's braces ("commit"); NULL: no such template. Static. */
const char *hone_mcp_resource_variable(const char *uri_template);
/* Answers that there is no such resource, as the revision says it. */
void hone_mcp_no_resource(const struct hone_mcp_request *request, const char *uri, const char *why);

#endif
