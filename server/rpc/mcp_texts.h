/* SPDX-License-Identifier: Apache-2.0 */
/* Texts of resources that no tool has: read from history and ledger. Owned; NULL: there is none. */
#ifndef HONE_SERVER_MCP_TEXTS_H
#define HONE_SERVER_MCP_TEXTS_H

#include "server/rpc/mcp.h"

/* The latest profile of a version, as JSON. */
char *hone_mcp_profile_text(const struct hone_mcp *mcp, const char *commit);
/* What was measured of it (version_facts.h), as JSON. */
char *hone_mcp_measured_text(const struct hone_mcp *mcp, const char *commit);
/* What models answered in a search, oldest first, cut at HONE_LIMIT_ANSWERS_TEXT_BYTES. */
char *hone_mcp_answers_text(const struct hone_mcp *mcp, const char *search);
/* What the planner chose among; search: "NAME?step=N". */
char *hone_mcp_choices_text(const struct hone_mcp *mcp, const char *search);

#endif
