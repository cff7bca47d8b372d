/* SPDX-License-Identifier: Apache-2.0 */
/* Prompts, and completion of the arguments of prompts and resource templates. */
#ifndef HONE_SERVER_MCP_PROMPTS_H
#define HONE_SERVER_MCP_PROMPTS_H

#include "server/rpc/mcp_request.h"

#define HONE_MCP_PROMPT_ARGUMENTS 3

struct hone_mcp_prompt_argument {
    const char *name, *description;
    const char *fallback; /* NULL: required */
};
struct hone_mcp_prompt { /* a row */
    const char *name, *title, *description;
    struct hone_mcp_prompt_argument arguments[HONE_MCP_PROMPT_ARGUMENTS];
    const char *text; /* {argument} stands for its value */
    const char
        *content; /* a content block before the text, JSON; arguments as in the text, inside of
                            strings. NULL: none */
};

hone_mcp_method_fn hone_mcp_prompts_list, hone_mcp_prompts_get, hone_mcp_complete;

#endif
