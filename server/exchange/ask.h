/* SPDX-License-Identifier: Apache-2.0 */
/* The questions that a call may have for its client (struct hone_ask of tools/tool.h), as MCP knows
 * them: one table of methods with the capability that each needs and the form of its answer. No
 * state; any thread. */
#ifndef HONE_SERVER_ASK_H
#define HONE_SERVER_ASK_H

#include "tools/tool.h"

/* able: the capabilities that the client declares; NULL: none. False for an unknown method. */
bool hone_ask_can(const struct hone_json *able, const struct hone_ask *ask);
/* Adds what the client would have to declare to an object of capabilities. */
void hone_ask_need(const struct hone_ask *ask, struct hone_json *capabilities);
/* The form of an answer: HONE_E_ARG. What is in a user's or a model's answer is the asker's matter. */
int hone_ask_check(const char *method, const struct hone_json *answer, struct hone_err *err);
/* {"method":...,"params":...}; owned. */
struct hone_json *hone_ask_request(const struct hone_ask *ask);
/* Copies an answer into the call's pool. */
void hone_ask_fill(struct hone_ask *ask, const struct hone_json *answer, struct hone_pool *pool);

#endif
