/* SPDX-License-Identifier: Apache-2.0 */
/* A small reader of C function definitions: enough to see a kernel's parameters,
 * without a compiler.
 *
 * Comments, strings and preprocessor lines are skipped; what is not understood (function pointers,
 * structs by value, macros in the parameter list) is refused with its line, never guessed. */
#ifndef HONE_TOOLS_PROTOTYPE_H
#define HONE_TOOLS_PROTOTYPE_H

#include "workspace/task/task.h"

struct hone_param {
    const char *name;
    const char *type; /* as written, without const, restrict and *: "float", "unsigned long" */
    const char *plain_type; /* C's own words for it, where a typedef or a macro names it */
    enum hone_dtype dtype;
    bool is_pointer;
    bool is_const;    /* what it points to is const */
    bool is_restrict; /* the pointer says so */
    bool is_own_type; /* the type is another one in C than the dtype's, though of the same bits */
    int64_t most;     /* integers: the largest value, 0 where no size comes near it */
    const char
        *dims[HONE_LIMIT_RANK]; /* "float A[M][K]": the texts between brackets; "" where empty */
    size_t n_dims;
};

enum hone_access { /* what a function does first with the elements of an array */
                   HONE_ACCESS_NONE,
                   HONE_ACCESS_READ, /* and nothing else */
                   HONE_ACCESS_READ_FIRST,
                   HONE_ACCESS_WRITE_FIRST,
                   HONE_ACCESS_UNKNOWN /* it is handed on */
};

struct hone_prototype {
    const char *name;
    int line;
    bool returns_void, is_static;
    enum hone_dtype return_dtype; /* unless void */
    size_t name_offset;           /* of the name in the source */
    struct hone_param params[HONE_LIMIT_AXES + HONE_LIMIT_TENSORS];
    size_t n_params;
};

/* The name of the function that hone_prototype_parse would read, whatever its parameters are. */
int hone_prototype_name(const char *source, const char *function, struct hone_pool *pool,
                        const char **ret, struct hone_err *err);
/* The definition of `function` (NULL: the only definition that is not static). Strings live in the
 * pool. HONE_E_ARG says the line and what is not understood; HONE_E_NOT_FOUND lists the functions
 * that exist. */
int hone_prototype_parse(const char *source, const char *function, struct hone_pool *pool,
                         struct hone_prototype *ret, struct hone_err *err);
/* What `#define NAME words` says; NULL: there is none. */
const char *hone_prototype_define(const char *source, const char *name, struct hone_pool *pool);
/* What the body does with the array of that name, told from its words: loops run from top to
 * bottom once, and what a call gets is not known. */
enum hone_access hone_prototype_access(const char *source, const struct hone_prototype *prototype,
                                       const char *name, struct hone_pool *pool);
/* What a task puts behind the user's name of a parameter where that has a meaning in tasks. */
#define HONE_PROTOTYPE_RENAMED "_value"
/* The source with every use of identifier `from` (outside comments, strings) replaced; owned. */
char *hone_prototype_rename(const char *source, const char *from, const char *to);

/* The source with `static` before each function that it defines without, and before what declares
 * those; `except` (NULL: none) stays as it is. In the pool. HONE_E_LIMIT. */
int hone_prototype_make_static(const char *source, const char *except, struct hone_pool *pool,
                               const char **ret_source, struct hone_err *err);
/* The text between the brackets of a definition's parameter list, on one line, with C's own types for
 * those that a typedef or a macro of the source names; in the pool. */
const char *hone_prototype_params_text(const char *source, const struct hone_prototype *prototype,
                                       struct hone_pool *pool);

#endif
