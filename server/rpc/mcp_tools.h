/* SPDX-License-Identifier: Apache-2.0 */
/* tools/list and tools/call. */
#ifndef HONE_SERVER_MCP_TOOLS_H
#define HONE_SERVER_MCP_TOOLS_H

#include "server/rpc/mcp_request.h"

/* In _meta of tools/call: true gives the answer as structuredContent and its summary as text. In
 * _meta of tools/list: with output schemas. Without it an answer is text, once: hosts differ in
 * which of the two they show, and some show both. */
#define HONE_MCP_STRUCTURED "hone/structured"

/* One page of the tools, in the registry's order. */
hone_mcp_method_fn hone_mcp_tools_list;
/* Starts the tool on its lane; the answer follows from there. */
hone_mcp_method_fn hone_mcp_tools_call;
/* The result of a call as it is answered, whatever answers it: owned, NULL: too large. */
char *hone_mcp_result_text(const struct hone_mcp_request *request, const struct hone_json *content,
                           bool is_error);
/* One tool as tools/list shows it; owned. */
struct hone_json *hone_mcp_tool_json(const struct hone_tool *tool,
                                     const struct hone_mcp_revision *revision, bool with_output);

#endif
