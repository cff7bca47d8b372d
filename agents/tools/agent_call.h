/* SPDX-License-Identifier: Apache-2.0 */
/* What the tools of agents/ share: reading the version that a call is about. */
#ifndef HONE_AGENTS_TOOLS_AGENT_CALL_H
#define HONE_AGENTS_TOOLS_AGENT_CALL_H

#include "agents/planner/step_mask.h"
#include "tools/evaluate.h"

struct hone_agent_call { /* a parsed version */
    struct hone_task *task;
    struct hone_c_parser *parser;
    const char *target;
    const char *source;
    const char *commit; /* NULL: the source was given */
    struct hone_report report;
    bool has_report;
    struct hone_coder_input input;
};
void hone_agent_call_done(struct hone_agent_call *call);
/* One of source and commit; neither: the baseline. target NULL: the commit's, else cpu.
 * HONE_E_NOT_FOUND, HONE_E_ARG, HONE_E_UNSUPPORTED. */
int hone_agent_call_init(struct hone_tool_ctx *ctx, const char *task, const char *target,
                         const char *source, const char *commit, struct hone_agent_call *ret,
                         struct hone_err *err);

#endif
