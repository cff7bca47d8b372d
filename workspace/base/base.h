/* SPDX-License-Identifier: Apache-2.0 */
/* Language helpers that every file may use: scope clean-up, counting, banned calls.
 *
 * The only place where compiler extensions are spelled out. Nothing here allocates, logs or keeps
 * state, except hone_malloc and friends, which abort when memory whose size *we* choose runs out.
 * Memory whose size comes from outside goes through hone_buf (buf.h), which has a limit. */
#ifndef HONE_BASE_BASE_H
#define HONE_BASE_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HONE_COUNTOF(a)         (sizeof(a) / sizeof((a)[0]))
#define HONE_PRINTF(fmt, first) __attribute__((format(printf, fmt, first)))
#define HONE_UNUSED             __attribute__((unused))
#define HONE_NORETURN           __attribute__((noreturn))

/* Runs fn(&variable) when the variable leaves its scope. */
#define HONE_CLEANUP(fn) __attribute__((cleanup(fn)))

/* Hands an owned pointer over: yields its value and leaves NULL behind. */
#define HONE_STEAL(p)                                                                              \
    (__extension__({                                                                               \
        __typeof__(p) stolen_ = (p);                                                               \
        (p) = NULL;                                                                                \
        stolen_;                                                                                   \
    }))

/* A broken invariant of ours: prints and aborts. Never for input. */
#define HONE_BUG_ON(cond)                                                                          \
    do {                                                                                           \
        if (__builtin_expect(!!(cond), 0))                                                         \
            hone_bug(__FILE__, __LINE__, #cond);                                                   \
    } while (0)

HONE_NORETURN void hone_bug(const char *file, int line, const char *what);

/* Allocation of sizes that we choose. Never return NULL. Free with free(). */
void *hone_malloc(size_t size);
void *hone_calloc(size_t count, size_t size);
void *hone_realloc(void *old, size_t size);
char *hone_strdup(const char *text);
char *hone_strndup(const char *text, size_t len);
char *hone_sprintf(const char *fmt, ...) HONE_PRINTF(1, 2); /* owned by the caller */

/* Scope clean-up for the usual owners. */
void hone_free_ptr(void *pointer_to_pointer); /* free(*p); *p = NULL */
void hone_close_fd(int *fd);                  /* close(*fd) when >= 0; *fd = -1; keeps errno */
#define HONE_AUTOFREE  HONE_CLEANUP(hone_free_ptr)
#define HONE_AUTOCLOSE HONE_CLEANUP(hone_close_fd)

static inline int64_t hone_min_i64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t hone_max_i64(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

#endif
