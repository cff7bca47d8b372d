/* SPDX-License-Identifier: Apache-2.0 */
#include "workspace/base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "workspace/base/utf8.h"

struct code_row {
    const char *name;
    int exit_status;
};

/* Indexed by -code. */
static const struct code_row codes[] = {
    [0] = {"ok", 0},
    [-HONE_E_BUG] = {"bug", 1},
    [-HONE_E_ARG] = {"arg", 2},
    [-HONE_E_NOT_FOUND] = {"not_found", 3},
    [-HONE_E_LIMIT] = {"limit", 4},
    [-HONE_E_TIMEOUT] = {"timeout", 5},
    [-HONE_E_CANCEL] = {"cancel", 6},
    [-HONE_E_IO] = {"io", 7},
    [-HONE_E_NOMEM] = {"nomem", 8},
    [-HONE_E_TARGET] = {"target", 9},
    [-HONE_E_UNSUPPORTED] = {"unsupported", 10},
    [-HONE_E_AUTH] = {"auth", 11},
    [-HONE_E_BUSY] = {"busy", 12},
    [-HONE_E_EXISTS] = {"exists", 13},
    [-HONE_E_CORRUPT] = {"corrupt", 14},
};

static const struct code_row *row_of(enum hone_code code)
{
    int i = -(int)code;
    return i >= 0 && (size_t)i < HONE_COUNTOF(codes) ? &codes[i] : &codes[-HONE_E_BUG];
}

const char *hone_code_name(enum hone_code code)
{
    return row_of(code)->name;
}

int hone_code_exit(enum hone_code code)
{
    return row_of(code)->exit_status;
}

/* Copies as much of text as fits into a field of cap bytes, whole characters only. */
static void put(char *field, size_t cap, const char *text)
{
    size_t len = strnlen(text, cap);
    if (len == cap)
        len = hone_utf8_cut(text, cap - 1);
    memmove(field, text, len);
    field[len] = '\0';
}

static int set(struct hone_err *err, enum hone_code code, int native, const char *path,
               const char *message)
{
    HONE_BUG_ON(code >= HONE_OK);
    if (err == NULL)
        return code;
    err->code = code;
    err->native = native;
    put(err->path, sizeof(err->path), path);
    put(err->message, sizeof(err->message), message);
    return code;
}

/* One byte more than a message holds, so that `put` sees that there was more. The text is made
 * apart because the arguments may point into the error that is about to be written. */
#define TEXT_BYTES (HONE_ERR_MESSAGE_BYTES + 8)

#define FORMAT(text, fmt)                                                                          \
    do {                                                                                           \
        va_list args_;                                                                             \
        va_start(args_, fmt);                                                                      \
        if (vsnprintf(text, sizeof(text), fmt, args_) < 0)                                         \
            (text)[0] = '\0';                                                                      \
        va_end(args_);                                                                             \
    } while (0)

int hone_fail(struct hone_err *err, enum hone_code code, const char *fmt, ...)
{
    char text[TEXT_BYTES];
    FORMAT(text, fmt);
    return set(err, code, 0, "", text);
}

int hone_fail_errno(struct hone_err *err, int native, const char *fmt, ...)
{
    char text[TEXT_BYTES];
    FORMAT(text, fmt);
    /* strerrordesc_np: thread safe and needs no buffer, unlike strerror. */
    const char *why = strerrordesc_np(native);
    char full[TEXT_BYTES + 64];
    snprintf(full, sizeof(full), "%s: %s", text, why ? why : "unknown error");
    return set(err, HONE_E_IO, native, "", full);
}

int hone_fail_at(struct hone_err *err, enum hone_code code, const char *path, const char *fmt, ...)
{
    char text[TEXT_BYTES];
    FORMAT(text, fmt);
    return set(err, code, 0, path ? path : "", text);
}

int hone_wrap(struct hone_err *err, const char *fmt, ...)
{
    if (err == NULL)
        return HONE_E_BUG;
    HONE_BUG_ON(err->code >= HONE_OK);
    char text[TEXT_BYTES];
    FORMAT(text, fmt);
    char full[2 * TEXT_BYTES];
    snprintf(full, sizeof(full), "%s: %s", text, err->message);
    put(err->message, sizeof(err->message), full);
    return err->code;
}
