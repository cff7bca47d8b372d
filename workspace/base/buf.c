/* SPDX-License-Identifier: Apache-2.0 */
#include "workspace/base/buf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "workspace/base/limits.h"

static size_t limit_of(const struct hone_buf *buf)
{
    return buf->limit ? buf->limit : HONE_LIMIT_BUF_BYTES;
}

void hone_buf_done(struct hone_buf *buf)
{
    size_t limit = buf->limit;
    free(buf->data);
    *buf = (struct hone_buf){.limit = limit};
}

/* Makes room for extra bytes and the NUL; false (and marked) when that is not allowed or not
 * possible. */
static bool reserve(struct hone_buf *buf, size_t extra)
{
    if (buf->has_failed)
        return false;
    size_t limit = limit_of(buf);
    if (extra > limit || buf->len > limit - extra) {
        buf->has_failed = true;
        return false;
    }
    size_t need = buf->len + extra + 1;
    if (need <= buf->cap)
        return true;
    size_t cap = buf->cap < 128 ? 256 : buf->cap * 2;
    if (cap > limit + 1)
        cap = limit + 1;
    if (cap < need)
        cap = need;
    char *data = realloc(buf->data, cap);
    if (data == NULL) {
        buf->has_failed = true;
        buf->is_out_of_memory = true;
        return false;
    }
    buf->data = data;
    buf->cap = cap;
    return true;
}

void hone_buf_add(struct hone_buf *buf, const void *bytes, size_t len)
{
    if (!reserve(buf, len))
        return;
    if (len > 0)
        memcpy(buf->data + buf->len, bytes, len);
    buf->len += len;
    buf->data[buf->len] = '\0';
}

void hone_buf_str(struct hone_buf *buf, const char *text)
{
    if (text != NULL)
        hone_buf_add(buf, text, strlen(text));
}

void hone_buf_vprintf(struct hone_buf *buf, const char *fmt, va_list args)
{
    char small[256];
    va_list again;
    va_copy(again, args);
    int len = vsnprintf(small, sizeof(small), fmt, args);
    if (len < 0) {
        buf->has_failed = true;
    } else if ((size_t)len < sizeof(small)) {
        hone_buf_add(buf, small, (size_t)len);
    } else if (reserve(buf, (size_t)len)) {
        vsnprintf(buf->data + buf->len, (size_t)len + 1, fmt, again);
        buf->len += (size_t)len;
    }
    va_end(again);
}

void hone_buf_printf(struct hone_buf *buf, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    hone_buf_vprintf(buf, fmt, args);
    va_end(args);
}

void hone_buf_drop(struct hone_buf *buf, size_t n_front)
{
    if (n_front > buf->len)
        n_front = buf->len;
    if (n_front == 0)
        return;
    buf->len -= n_front;
    memmove(buf->data, buf->data + n_front, buf->len + 1);
}

int hone_buf_check(const struct hone_buf *buf, struct hone_err *err)
{
    if (!buf->has_failed)
        return 0;
    if (buf->is_out_of_memory)
        return hone_fail(err, HONE_E_NOMEM, "no memory for more than %zu bytes", buf->len);
    return hone_fail(err, HONE_E_LIMIT, "text is longer than the %zu bytes accepted",
                     limit_of(buf));
}

char *hone_buf_steal(struct hone_buf *buf)
{
    char *text = buf->data ? HONE_STEAL(buf->data) : hone_strdup("");
    hone_buf_done(buf);
    return text;
}
