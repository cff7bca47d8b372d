/* SPDX-License-Identifier: Apache-2.0 */
/* The error object: a caller-owned value of fixed size, usable after fork and out of memory.
 *
 * Convention, everywhere in hone: a function that can fail returns 0 or a negative enum hone_code
 * and takes a struct hone_err * as its last parameter. err may be NULL. It is written exactly when
 * the result is negative. Do not read other outputs then, and free none of them: most functions
 * leave them untouched, some clear them first. Making and returning is one statement:
 *
 *     return hone_fail(err, HONE_E_LIMIT, "source is %zu bytes, at most %d are accepted", n, max);
 *
 * and adding context on the way up is another:
 *
 *     return hone_wrap(err, "task '%s'", name);        (keeps the code, puts the text in front) */
#ifndef HONE_BASE_ERR_H
#define HONE_BASE_ERR_H

#include "workspace/base/base.h"

enum hone_code {
    HONE_OK = 0,
    HONE_E_BUG = -1,          /* a fault of hone itself */
    HONE_E_ARG = -2,          /* a bad argument or bad input; the message says the fix */
    HONE_E_NOT_FOUND = -3,    /* a named thing does not exist */
    HONE_E_LIMIT = -4,        /* a named limit was exceeded */
    HONE_E_TIMEOUT = -5,      /* a deadline passed */
    HONE_E_CANCEL = -6,       /* the caller asked to stop */
    HONE_E_IO = -7,           /* the system refused: native holds errno */
    HONE_E_NOMEM = -8,        /* memory whose size input chose could not be had */
    HONE_E_TARGET = -9,       /* device, compiler or runner failed */
    HONE_E_UNSUPPORTED = -10, /* not available on this machine or build */
    HONE_E_AUTH = -11,        /* not allowed */
    HONE_E_BUSY = -12,        /* somebody else holds it; try again */
    HONE_E_EXISTS = -13,      /* already there */
    HONE_E_CORRUPT = -14      /* stored data is damaged */
};

#define HONE_ERR_MESSAGE_BYTES 400
#define HONE_ERR_PATH_BYTES    120

struct hone_err {
    enum hone_code code;
    int native; /* errno or a library's own number; 0 if none */
    char
        path[HONE_ERR_PATH_BYTES]; /* where in the input, e.g. "inputs.A.shape[1]"; "" if nowhere */
    char message[HONE_ERR_MESSAGE_BYTES]; /* always terminated, cut at a whole UTF-8 character */
};

#define HONE_ERR_INIT                                                                              \
    {                                                                                              \
        .code = HONE_OK                                                                            \
    }

/* Sets err and returns code. */
int hone_fail(struct hone_err *err, enum hone_code code, const char *fmt, ...) HONE_PRINTF(3, 4);
/* The same with errno: native is set and ": <strerror>" appended; code is HONE_E_IO. */
int hone_fail_errno(struct hone_err *err, int native, const char *fmt, ...) HONE_PRINTF(3, 4);
/* The same with a place in the input. */
int hone_fail_at(struct hone_err *err, enum hone_code code, const char *path, const char *fmt, ...)
    HONE_PRINTF(4, 5);
/* Puts "text: " in front of the message and returns err->code (HONE_E_BUG when err is NULL). */
int hone_wrap(struct hone_err *err, const char *fmt, ...) HONE_PRINTF(2, 3);

/* "arg", "not_found", "limit"...: the stable word for a code. */
const char *hone_code_name(enum hone_code code);
/* Process exit status for a code: 0 ok, 2 argument, 3 not found, 4 limit, 5 timeout, 6 cancel... */
int hone_code_exit(enum hone_code code);

#endif
