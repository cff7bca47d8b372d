/* SPDX-License-Identifier: Apache-2.0 */
/* The Model Context Protocol, revisions 2024-11-05 to 2025-11-25, over any transport that carries
 * whole messages.
 *
 * This file is the handshake era: a connection is a session, initialize comes first. What the
 * methods do (mcp_tools.h) knows only the revision's features, so that another era is another
 * handler beside this one. */
#ifndef HONE_SERVER_MCP_H
#define HONE_SERVER_MCP_H

#include "server/rpc/app.h"
#include "server/rpc/peer.h"

struct hone_mcp_revision { /* what differs between revisions, one row each */
    const char *name;
    bool allows_batch;
    bool has_structured; /* structuredContent, outputSchema, titles */
    bool has_annotations;
    bool has_priming; /* over HTTP a stream begins with an event that has an id and no data */
};

struct hone_mcp {
    struct hone_runtime *runtime;
    const char *caller; /* name used when the client gives none */
    size_t page_size;   /* tools in one page of tools/list; 0: HONE_MCP_PAGE */
};
#define HONE_MCP_PAGE 64

extern const struct hone_handler
    hone_mcp_handler; /* handler_arg is a const struct hone_mcp *, which outlives every peer */

const struct hone_mcp_revision *hone_mcp_newest(void);
/* The row of a name; NULL: not supported. */
const struct hone_mcp_revision *hone_mcp_revision(const char *name);

#endif
