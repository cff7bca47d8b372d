/* SPDX-License-Identifier: Apache-2.0 */
#include "workspace/base/buf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK_BYTES (16u << 10)
#define ALIGN       16u

struct chunk {
    struct chunk *next;
    size_t used, cap;
    _Alignas(ALIGN) unsigned char bytes[];
};

struct deferred {
    struct deferred *next;
    void (*fn)(void *arg);
    void *arg;
};

struct hone_pool {
    struct chunk *chunks; /* the first one takes the small allocations */
    struct deferred *deferred;
};

struct hone_pool *hone_pool_new(void)
{
    return hone_calloc(1, sizeof(struct hone_pool));
}

void hone_pool_free(struct hone_pool *pool)
{
    if (pool == NULL)
        return;
    for (struct deferred *d = pool->deferred; d != NULL; d = d->next)
        d->fn(d->arg);
    for (struct chunk *c = pool->chunks; c != NULL;) {
        struct chunk *next = c->next;
        free(c);
        c = next;
    }
    free(pool);
}

void hone_pool_free_ptr(struct hone_pool **pool)
{
    hone_pool_free(*pool);
    *pool = NULL;
}

static struct chunk *chunk_new(size_t cap)
{
    struct chunk *c = hone_malloc(sizeof(*c) + cap);
    c->next = NULL;
    c->used = 0;
    c->cap = cap;
    return c;
}

void *hone_pool_alloc(struct hone_pool *pool, size_t size)
{
    HONE_BUG_ON(size > SIZE_MAX / 2);
    size = (size + ALIGN - 1) & ~(size_t)(ALIGN - 1);
    if (size == 0)
        size = ALIGN;
    struct chunk *c = pool->chunks;
    if (c == NULL || c->cap - c->used < size) {
        bool is_large = size > CHUNK_BYTES / 4;
        struct chunk *fresh = chunk_new(is_large ? size : CHUNK_BYTES);
        if (is_large && c != NULL) { /* behind the first, which still has room */
            fresh->next = c->next;
            c->next = fresh;
        } else {
            fresh->next = c;
            pool->chunks = fresh;
        }
        c = fresh;
    }
    void *p = c->bytes + c->used;
    c->used += size;
    return memset(p, 0, size);
}

void *hone_pool_grow(struct hone_pool *pool, void *list, size_t size, size_t n, size_t *room)
{
    enum { FIRST = 32 };
    if (n < *room)
        return list;
    size_t more = *room > 0 ? 2 * *room : FIRST;
    HONE_BUG_ON(more > SIZE_MAX / 2 / size);
    void *grown = hone_pool_alloc(pool, more * size);
    if (n > 0)
        memcpy(grown, list, n * size);
    *room = more;
    return grown;
}

char *hone_pool_strdup(struct hone_pool *pool, const char *text)
{
    return text ? hone_pool_strndup(pool, text, strlen(text)) : NULL;
}

char *hone_pool_strndup(struct hone_pool *pool, const char *text, size_t len)
{
    len = strnlen(text, len);
    char *copy = hone_pool_alloc(pool, len + 1);
    memcpy(copy, text, len);
    return copy;
}

char *hone_pool_printf(struct hone_pool *pool, const char *fmt, ...)
{
    HONE_BUG_ON(fmt == NULL); /* tells gcc's sanitizer build, which warns else */
    va_list args, again;
    va_start(args, fmt);
    va_copy(again, args);
    int len = vsnprintf(NULL, 0, fmt, args);
    HONE_BUG_ON(len < 0);
    char *text = hone_pool_alloc(pool, (size_t)len + 1);
    vsnprintf(text, (size_t)len + 1, fmt, again);
    va_end(again);
    va_end(args);
    return text;
}

void hone_pool_defer(struct hone_pool *pool, void (*fn)(void *arg), void *arg)
{
    struct deferred *d = hone_pool_alloc(pool, sizeof(*d));
    *d = (struct deferred){.next = pool->deferred, .fn = fn, .arg = arg};
    pool->deferred = d;
}
