/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/model/sse.h"

#include <stdio.h>
#include <string.h>

#include "workspace/base/limits.h"

void hone_sse_init(struct hone_sse *sse, hone_sse_fn *on_event, void *arg)
{
    *sse = (struct hone_sse){.on_event = on_event,
                             .arg = arg,
                             .line = {.limit = HONE_LIMIT_SSE_BYTES},
                             .data = {.limit = HONE_LIMIT_SSE_BYTES}};
}

void hone_sse_done(struct hone_sse *sse)
{
    hone_buf_done(&sse->line);
    hone_buf_done(&sse->data);
}

/* An empty buffer that keeps its memory. */
static void clear(struct hone_buf *buf)
{
    buf->len = 0;
    if (buf->data)
        buf->data[0] = '\0';
}

static int dispatch(struct hone_sse *sse, struct hone_err *err)
{
    int r = 0;
    if (sse->has_data)
        r = sse->on_event(sse->arg, sse->name, sse->data.data ? sse->data.data : "", sse->data.len,
                          err);
    sse->has_data = false;
    sse->name[0] = '\0';
    clear(&sse->data);
    return r;
}

static int take_line(struct hone_sse *sse, struct hone_err *err)
{
    const char *line = sse->line.data ? sse->line.data : "";
    size_t len = sse->line.len;
    if (!sse->is_started && len >= 3 && memcmp(line, "\xEF\xBB\xBF", 3) == 0) {
        line += 3;
        len -= 3;
    }
    sse->is_started = true;
    if (len == 0)
        return dispatch(sse, err);
    const char *colon = memchr(line, ':', len);
    size_t n_name = colon ? (size_t)(colon - line) : len, at = n_name + (colon != NULL);
    if (at < len && line[at] == ' ')
        at++;
    if (n_name == 4 && memcmp(line, "data", 4) == 0) {
        if (sse->has_data)
            hone_buf_add(&sse->data, "\n", 1);
        hone_buf_add(&sse->data, line + at, len - at);
        sse->has_data = true;
    } else if (n_name == 5 && memcmp(line, "event", 5) == 0) {
        snprintf(sse->name, sizeof(sse->name), "%.*s", (int)hone_min_i64(63, (int64_t)(len - at)),
                 line + at);
    }
    return hone_buf_check(&sse->data, err);
}

static int end_line(struct hone_sse *sse, struct hone_err *err)
{
    int r = take_line(sse, err);
    clear(&sse->line);
    return r;
}

int hone_sse_feed(struct hone_sse *sse, const char *bytes, size_t len, struct hone_err *err)
{
    size_t at = 0;
    while (at < len) {
        if (sse->after_cr && bytes[at] == '\n') {
            sse->after_cr = false;
            at++;
            continue;
        }
        sse->after_cr = false;
        size_t n = at;
        while (n < len && bytes[n] != '\n' && bytes[n] != '\r')
            n++;
        hone_buf_add(&sse->line, bytes + at, n - at);
        int r = hone_buf_check(&sse->line, err);
        if (r < 0)
            return r;
        if (n < len) {
            sse->after_cr = bytes[n] == '\r';
            r = end_line(sse, err);
            if (r < 0)
                return r;
            n++;
        }
        at = n;
    }
    return 0;
}
