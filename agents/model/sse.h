/* SPDX-License-Identifier: Apache-2.0 */
/* Server-sent events, as they come in pieces (WHATWG HTML, "Interpreting an event stream").
 *
 * Lines end in LF, CR or CRLF; "data:" lines of one event are joined by newlines; comments, "id:"
 * and "retry:" are passed over. An event of more than HONE_LIMIT_SSE_BYTES is HONE_E_LIMIT. */
#ifndef HONE_AGENTS_SSE_H
#define HONE_AGENTS_SSE_H

#include "workspace/base/buf.h"

/* Called for each event that has data; name "" when it has none. Negative ends the feed. */
typedef int hone_sse_fn(void *arg, const char *name, const char *data, size_t len,
                        struct hone_err *err);

struct hone_sse {
    hone_sse_fn *on_event;
    void *arg;
    struct hone_buf line, data;
    char name[64];
    bool has_data, after_cr, is_started;
};

void hone_sse_init(struct hone_sse *sse, hone_sse_fn *on_event, void *arg);
void hone_sse_done(struct hone_sse *sse);
int hone_sse_feed(struct hone_sse *sse, const char *bytes, size_t len, struct hone_err *err);

#endif
