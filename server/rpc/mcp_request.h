/* SPDX-License-Identifier: Apache-2.0 */
/* What a method of the protocol gets and how it answers, whatever the era: a handshake's session or
 * a request that stands alone make the same struct. */
#ifndef HONE_SERVER_MCP_REQUEST_H
#define HONE_SERVER_MCP_REQUEST_H

#include "server/exchange/round.h"
#include "server/rpc/mcp.h"

struct hone_mcp_request { /* all borrowed */
    const struct hone_mcp *mcp;
    const struct hone_mcp_revision *revision;
    const char *method; /* lives as long as the program */
    const char *caller;
    struct hone_call *call;
    const struct hone_json *params;
    const struct hone_json
        *able; /* the client's capabilities, as long as its calls; NULL: cannot be
                                     asked */
    int level; /* hone_mcp_level_find: what the client wants to be told; -1: nothing */
};
typedef void hone_mcp_method_fn(const struct hone_mcp_request *request);

enum hone_mcp_cache { HONE_MCP_NO_CACHE, HONE_MCP_CACHE_SHORT, HONE_MCP_CACHE_LONG };

/* Answers with result (moved), and with what each result of the revision carries. */
void hone_mcp_answer(const struct hone_mcp_request *request, struct hone_json *result,
                     enum hone_mcp_cache cache);
/* The same with another resultType ("task"), in a stateless revision. */
void hone_mcp_answer_as(const struct hone_mcp_request *request, struct hone_json *result,
                        const char *type);
/* The members that end a result in this revision: "" or ",\"resultType\":...". Static. */
const char *hone_mcp_result_end(const struct hone_mcp_revision *revision);
/* A request that stands alone may end with questions (round.h). Opens its round: from params, and of
 * what the client brings back only what it got for this name and these arguments. False: it brings
 * back something else, and is answered. */
bool hone_mcp_round_open(const struct hone_mcp_request *request, const char *name,
                         const struct hone_json *arguments, struct hone_round *ret);
/* Answers a request whose round has ended: with the questions, or with why there can be none. The
 * word for the audit log, static. */
const char *hone_mcp_round_answer(const struct hone_mcp_request *request, const char *name,
                                  const struct hone_json *arguments,
                                  const struct hone_round *round);
/* Answers one whose client would have to declare more. capabilities: of the error's data. */
void hone_mcp_answer_missing(const struct hone_mcp_request *request,
                             const struct hone_json *capabilities);
/* Answers with one page of a list (moved): result[key] and nextCursor. A cursor that is none of ours
 * is a params error. */
void hone_mcp_answer_page(const struct hone_mcp_request *request, const char *key,
                          struct hone_json *all, enum hone_mcp_cache cache);

/* Runs fn on a lane's worker with a copy of the request; a full lane is answered here. */
void hone_mcp_on_lane(const struct hone_mcp_request *request, enum hone_lane lane,
                      hone_mcp_method_fn *fn);
/* Runs a tool where we are. args_json: text of an object. NULL: it failed, err says why; an error
 * result is a failure too (HONE_E_NOT_FOUND with its summary). Owned. */
struct hone_json *hone_mcp_tool_answer(const struct hone_mcp *mcp, const char *caller,
                                       const char *tool, const char *args_json,
                                       struct hone_err *err);

/* Severities of syslog, debug 0 to emergency 7; -1: unknown word. */
int hone_mcp_level_find(const char *word);
/* Tells the client, before the answer, if it wants to know. level: one of the words. */
void hone_mcp_tell(struct hone_call *call, int wanted, const char *level, const char *text);

#endif
