/* SPDX-License-Identifier: Apache-2.0 */
#include "workspace/base/base.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void hone_bug(const char *file, int line, const char *what)
{
    fprintf(stderr, "hone: bug at %s:%d: %s\n", file, line, what);
    abort();
}

static void *or_abort(void *p)
{
    if (p == NULL) {
        fprintf(stderr, "hone: out of memory\n");
        abort();
    }
    return p;
}

void *hone_malloc(size_t size)
{
    return or_abort(malloc(size ? size : 1));
}

void *hone_calloc(size_t count, size_t size)
{
    return or_abort(calloc(count ? count : 1, size ? size : 1));
}

void *hone_realloc(void *old, size_t size)
{
    return or_abort(realloc(old, size ? size : 1));
}

char *hone_strdup(const char *text)
{
    return or_abort(strdup(text));
}

char *hone_strndup(const char *text, size_t len)
{
    return or_abort(strndup(text, len));
}

char *hone_sprintf(const char *fmt, ...)
{
    char *text = NULL;
    va_list args;
    va_start(args, fmt);
    int len = vasprintf(&text, fmt, args);
    va_end(args);
    return or_abort(len < 0 ? NULL : text);
}

void hone_free_ptr(void *pointer_to_pointer)
{
    void *p;
    memcpy(&p, pointer_to_pointer, sizeof(p));
    free(p);
    p = NULL;
    memcpy(pointer_to_pointer, &p, sizeof(p));
}

void hone_close_fd(int *fd)
{
    if (*fd < 0)
        return;
    int saved = errno;
    close(*fd);
    *fd = -1;
    errno = saved;
}
