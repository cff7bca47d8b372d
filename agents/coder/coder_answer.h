/* SPDX-License-Identifier: Apache-2.0 */
/* The answer of a model that edits a source: blocks between marker lines, everything else is talk
 * and counts for nothing.
 *
 *     @@EDIT 12:a3f1 14:90bc        lines 12 to 14 of the shown source, named with their tags
 *     new text
 *     @@END
 *     @@SEARCH                      a text that occurs exactly once in the shown source
 *     old text
 *     @@WITH
 *     new text
 *     @@END
 *     @@FILE                        the whole new source; then it is the only block
 *     text
 *     @@END
 *     @@DECLINE                     no source: the step cannot help here; the only block
 *     why
 *     @@END
 *
 * A tag is four hex digits of the hash of the line's text, so that an edit can only land where its
 * author looked. Any doubt is a refusal with a reason that is fit for the next prompt. */
#ifndef HONE_AGENTS_CODER_ANSWER_H
#define HONE_AGENTS_CODER_ANSWER_H

#include "workspace/base/buf.h"

enum { HONE_LINE_TAG_BYTES = 5 }; /* four digits and NUL */
void hone_line_tag(const char *line, size_t len, char ret[HONE_LINE_TAG_BYTES]);
/* The source as it is shown: "  12:a3f1| text", one line each; in the pool. */
const char *hone_tagged_source(const char *source, struct hone_pool *pool);

/* The new source, or why the step is declined (one line, cut at HONE_LIMIT_DECLINE_BYTES); the
 * other is NULL; in the pool. HONE_E_ARG with the reason: no block, unknown marker, a tag that does
 * not fit, a text that is not there exactly once, edits that overlap, nothing changed, no text,
 * edits beside a decline. HONE_E_LIMIT: too many edits, too large a result. source NULL: only a
 * whole file will do. */
int hone_coder_answer_apply(const char *source, const char *answer, struct hone_pool *pool,
                            const char **ret_source, const char **ret_declined,
                            struct hone_err *err);

#endif
