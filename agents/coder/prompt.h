/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of prompts that coder and planner share: prompt files, and foreign text in fences. */
#ifndef HONE_AGENTS_PROMPT_H
#define HONE_AGENTS_PROMPT_H

#include "workspace/base/buf.h"
#include "workspace/task/task.h"

/* Text of a prompt file ("coder.md") in the folder; in the pool. HONE_E_NOT_FOUND. */
int hone_prompt_file(const char *dir, const char *name, struct hone_pool *pool, const char **ret,
                     struct hone_err *err);
/* Adds foreign text between <<DATA x> and <DATA x>>. x follows from the seed and the text, so that
 * the same request is the same again, and does not occur in the text. The text is cut at max bytes
 * (in whole lines, the middle goes) and control characters are taken out of it. */
void hone_prompt_data(struct hone_buf *out, int64_t seed, const char *what, const char *text,
                      size_t max);
/* Adds what the user asks for in words of their own: instructions, each one line, never inside of a
 * block of data. Nothing without hints. */
void hone_prompt_hints(struct hone_buf *out, const char *const *hints, size_t n);
struct hone_history_context { /* of a version, in words (history_context.h); each may be NULL */
    const char *profile, *times, *whole, *settings, *way, *tried;
    const char *basis; /* which look the times are of; no data: the search's own words */
};
/* Adds it, each part as data. */
void hone_prompt_past(struct hone_buf *out, int64_t seed, const struct hone_history_context *past);
/* What earlier searches of other tasks found (agents/knowledge/knowledge.h), a line each, best first,
 * as data. Lines are taken whole from the beginning, as many as fit into HONE_LIMIT_KNOWLEDGE_PROMPT
 * bytes with the words and the fence around them. Adds nothing without a line (NULL, ""). */
void hone_prompt_knowledge(struct hone_buf *out, int64_t seed, const char *lines);
/* So many bytes of lines fit. */
size_t hone_prompt_knowledge_room(void);
/* What has to be computed: signature, sizes, precision, description; the same for all requests
 * of a search. */
const char *hone_prompt_task(const struct hone_task *task, const char *target, int64_t seed,
                             struct hone_pool *pool);

#endif
