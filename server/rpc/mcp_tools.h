/* SPDX-License-Identifier: Apache-2.0 */
/* tools/list and tools/call. Both take what they need as arguments: no session here. */
#ifndef HONE_SERVER_MCP_TOOLS_H
#define HONE_SERVER_MCP_TOOLS_H

#include "server/rpc/mcp.h"

/* In _meta of tools/call: true gives the answer as structuredContent and its summary as text. In
 * _meta of tools/list: with output schemas. Without it an answer is text, once: hosts differ in
 * which of the two they show, and some show both. */
#define HONE_MCP_STRUCTURED "hone/structured"

/* Answers with one page of the tools, in the registry's order. A cursor that is none of ours is a
 * params error. */
void hone_mcp_tools_list(const struct hone_mcp *mcp, const struct hone_mcp_revision *revision,
                         struct hone_call *call, const struct hone_json *params);
/* Starts the tool on its lane; the answer follows from there. caller is copied. */
void hone_mcp_tools_call(const struct hone_mcp *mcp, const struct hone_mcp_revision *revision,
                         const char *caller, struct hone_call *call,
                         const struct hone_json *params);
/* One tool as tools/list shows it; owned. */
struct hone_json *hone_mcp_tool_json(const struct hone_tool *tool,
                                     const struct hone_mcp_revision *revision, bool with_output);

#endif
