/* SPDX-License-Identifier: Apache-2.0 */
/* Growing byte buffer with a limit, and a pool (region) that owns the memory of one call.
 *
 *   hone_buf   Bytes whose amount comes from outside. Appending past the limit, or without memory,
 *              marks the buffer as failed; later appends do nothing; hone_buf_check tells once at
 *              the end.
 *   hone_pool  All small allocations of one request; freed in one go.
 *
 * Not thread safe: one owner. */
#ifndef HONE_BASE_BUF_H
#define HONE_BASE_BUF_H

#include <stdarg.h>
#include "workspace/base/err.h"

struct hone_buf {
    char *data; /* NUL-terminated when data != NULL; the NUL is not counted in len */
    size_t len;
    size_t cap;
    size_t limit; /* 0: HONE_LIMIT_BUF_BYTES */
    bool has_failed;
    bool is_out_of_memory; /* why it failed; else the limit */
};

#define HONE_BUF_INIT                                                                              \
    {                                                                                              \
        .data = NULL                                                                               \
    }

void hone_buf_done(struct hone_buf *buf); /* usable as HONE_CLEANUP */
void hone_buf_add(struct hone_buf *buf, const void *bytes, size_t len);
void hone_buf_str(struct hone_buf *buf, const char *text);
void hone_buf_printf(struct hone_buf *buf, const char *fmt, ...) HONE_PRINTF(2, 3);
void hone_buf_vprintf(struct hone_buf *buf, const char *fmt, va_list args) HONE_PRINTF(2, 0);
void hone_buf_drop(struct hone_buf *buf, size_t n_front); /* removes bytes at the front */
int hone_buf_check(const struct hone_buf *buf, struct hone_err *err); /* LIMIT or NOMEM if failed */
/* The contents as an owned string ("" if empty); the buffer is empty afterwards. */
char *hone_buf_steal(struct hone_buf *buf);

struct hone_pool; /* opaque */
struct hone_pool *hone_pool_new(void);
void hone_pool_free(struct hone_pool *pool);
void hone_pool_free_ptr(struct hone_pool **pool); /* for HONE_CLEANUP */
void *hone_pool_alloc(struct hone_pool *pool,
                      size_t size); /* zeroed, 16-byte aligned, never NULL */
/* A list of the pool with room for one more than n: `list` (NULL: none yet) where *room says that it
 * has it, else a copy with twice the room, and new items are zero. size: of an item. */
void *hone_pool_grow(struct hone_pool *pool, void *list, size_t size, size_t n, size_t *room);
char *hone_pool_strdup(struct hone_pool *pool, const char *text); /* NULL gives NULL */
char *hone_pool_strndup(struct hone_pool *pool, const char *text, size_t len);
/* Runs fn(arg) when the pool is freed, last registered first: for what the pool's
 * memory points to. */
void hone_pool_defer(struct hone_pool *pool, void (*fn)(void *arg), void *arg);
char *hone_pool_printf(struct hone_pool *pool, const char *fmt, ...) HONE_PRINTF(2, 3);

#endif
