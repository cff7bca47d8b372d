/* SPDX-License-Identifier: Apache-2.0 */
/* The text of a function with the arguments of one call in it: statements, then a value. */
#ifndef HONE_AGENTS_C_HELPER_H
#define HONE_AGENTS_C_HELPER_H

#include "agents/source/site.h"

enum { HONE_C_MAX_ARGS = 16 };

struct hone_c_argument {
    const struct hone_c_node *param, *value;
    bool is_copied;     /* a local holds it, of this name: */
    const char *text;   /* what stands for the parameter */
    const char *offset; /* of a pointer: from `text`, "r * cols"; NULL: it is a plain name */
    bool may_add;       /* root[offset + k] for p[k] */
};

struct hone_c_helper {
    const struct hone_c_node *call, *function;
    const struct hone_c_node *tail; /* from here on it only returns; NULL: it returns nothing */
    struct hone_c_argument args[HONE_C_MAX_ARGS];
    size_t n_args;
    struct hone_c_edits edits; /* of the function's text */
    bool is_expression, writes_memory, declares;
    bool is_simple;         /* the value: a name */
    const char *statements; /* "" when it is an expression */
    const char *value;      /* NULL: none */
};

/* False: the text cannot stand for the call. */
bool hone_c_helper_read(const struct hone_coder_input *in, const struct hone_c_node *function,
                        const struct hone_c_node *call, struct hone_c_helper *ret);

/* ---- its parts ---- */

/* What the node sets; NULL: nothing. */
const struct hone_c_node *hone_c_target_of(const struct hone_c_node *node);
/* But for qualifiers; an array is a pointer. */
bool hone_c_is_same_type(const char *a, const char *b);
/* Does its text need no parentheses as an operand? */
bool hone_c_is_primary(const struct hone_c_node *value);
/* The text of the value as one of the type. */
const char *hone_c_cast_text(const struct hone_coder_input *in, const struct hone_c_node *value,
                             const char *text, const char *type);
/* A text for each parameter. False: an argument changes something, or fits no parameter. */
bool hone_c_read_arguments(const struct hone_coder_input *in, struct hone_c_helper *helper);

#endif
