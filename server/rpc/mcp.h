/* SPDX-License-Identifier: Apache-2.0 */
/* The Model Context Protocol, revisions 2024-11-05 to 2026-07-28, over any transport that carries
 * whole messages.
 *
 * Two eras on one connection. This file is the handshake's (to 2025-11-25): a connection is a
 * session, initialize comes first. A request that names its version itself goes to mcp_modern.h.
 * What methods do (mcp_tools.h, mcp_resources.h, mcp_prompts.h) knows only the revision's features. */
#ifndef HONE_SERVER_MCP_H
#define HONE_SERVER_MCP_H

#include "server/access/audit.h"
#include "server/rpc/app.h"
#include "server/rpc/peer.h"

struct hone_mcp_revision { /* what differs between revisions, one row each */
    const char *name;
    bool allows_batch;
    bool has_structured; /* structuredContent, outputSchema, titles */
    bool has_annotations;
    bool is_stateless; /* requests stand alone; each result says its type and who answers */
    bool has_priming;  /* over HTTP a stream begins with an event that has an id and no data */
};

struct hone_mcp {
    struct hone_runtime *runtime;
    const char *caller;       /* name used when the client gives none */
    size_t page_size;         /* rows in one page of a list; 0: HONE_MCP_PAGE */
    struct hone_audit *audit; /* borrowed; NULL: none */
    /* Rows beside hone's own, as tools come in sets; borrowed. */
    const struct hone_mcp_prompt *prompts; /* mcp_prompts.h */
    size_t n_prompts;
    const struct hone_mcp_resource *resources; /* mcp_resources.h */
    size_t n_resources;
};
#define HONE_MCP_PAGE 64

extern const struct hone_handler
    hone_mcp_handler; /* handler_arg is a const struct hone_mcp *, which outlives every peer */

const struct hone_mcp_revision *hone_mcp_newest(void);
/* The row of a name that a handshake can agree on; NULL: none. */
const struct hone_mcp_revision *hone_mcp_revision(const char *name);
extern const char hone_mcp_instructions[];
struct hone_json *hone_mcp_capabilities(const struct hone_mcp_revision *revision); /* owned */

#endif
