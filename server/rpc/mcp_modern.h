/* SPDX-License-Identifier: Apache-2.0 */
/* Revision 2026-07-28: a request stands alone. It says its version and the client's capabilities in
 * params._meta; there is no handshake and no session. The methods are those of the other revisions
 * (mcp_tools.h, mcp_resources.h, mcp_prompts.h), with server/discover and subscriptions/listen in
 * place of initialize and resources/subscribe. */
#ifndef HONE_SERVER_MCP_MODERN_H
#define HONE_SERVER_MCP_MODERN_H

#include "server/rpc/mcp_request.h"

#define HONE_MCP_MISMATCH    (-32020) /* headers and body differ */
#define HONE_MCP_MISSING     (-32021) /* the client must be able to do something */
#define HONE_MCP_UNSUPPORTED (-32022) /* another version */
#define HONE_MCP_META_ABLE   "io.modelcontextprotocol/clientCapabilities"

extern const struct hone_mcp_revision hone_mcp_stateless;

struct hone_mcp_refusal {
    int number; /* 0: none */
    const char *text;
    const char *data_json; /* members of the error's data; NULL: none */
};

/* True where a message speaks this era: its _meta names a version, or its method is of this era
 * alone. */
bool hone_mcp_is_modern(const char *method, const struct hone_json *params);
/* What the request says of its client's name; "": nothing. Borrowed. */
const char *hone_mcp_program(const struct hone_json *params);
/* The capabilities that it declares; NULL: none. Borrowed. */
const struct hone_json *hone_mcp_able(const struct hone_json *params);
/* What is wrong with a request of this era before its method looks at it. */
struct hone_mcp_refusal hone_mcp_modern_check(const char *method, const struct hone_json *params);
/* The error's data; owned, NULL: none. */
char *hone_mcp_refusal_data(const struct hone_mcp_refusal *refusal, const struct hone_json *params);
/* Runs it; a bad one is answered. */
void hone_mcp_modern(const struct hone_mcp *mcp, struct hone_call *call, const char *method,
                     const struct hone_json *params);

#endif
