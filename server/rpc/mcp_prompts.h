/* SPDX-License-Identifier: Apache-2.0 */
/* Prompts, and completion of the arguments of prompts and resource templates. */
#ifndef HONE_SERVER_MCP_PROMPTS_H
#define HONE_SERVER_MCP_PROMPTS_H

#include "server/rpc/mcp_request.h"

hone_mcp_method_fn hone_mcp_prompts_list, hone_mcp_prompts_get, hone_mcp_complete;

#endif
