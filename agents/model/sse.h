/* SPDX-License-Identifier: Apache-2.0 */
/* Server-sent events, as they come in pieces (WHATWG HTML, "Interpreting an event stream").
 *
 * Lines end in LF, CR or CRLF; "data:" lines of one event are joined by newlines; comments, "id:"
 * and "retry:" are passed over. An event of more than HONE_LIMIT_SSE_BYTES is HONE_E_LIMIT. */
#ifndef HONE_AGENTS_SSE_H
#define HONE_AGENTS_SSE_H

#include "workspace/base/buf.h"

struct hone_sse {
    /* Called for each event that has data; name "" when it has none. Negative ends the feed. */
    int (*on_event)(void *arg, const char *name, const char *data, size_t len,
                    struct hone_err *err);
    void *arg;
    struct hone_buf line, data;
    char name[64];
    bool has_data, after_cr, is_started;
};

void hone_sse_init(struct hone_sse *sse,
                   int (*on_event)(void *arg, const char *name, const char *data, size_t len,
                                   struct hone_err *err),
                   void *arg);
void hone_sse_done(struct hone_sse *sse);
int hone_sse_feed(struct hone_sse *sse, const char *bytes, size_t len, struct hone_err *err);

#endif
