/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of extent.h share: extent_range.c evaluates expressions, extent_reach.c follows
 * arrays, extent_call.c calls, conditions, and what arrays hold. */
#ifndef HONE_TOOLS_EXTENT_INTERNAL_H
#define HONE_TOOLS_EXTENT_INTERNAL_H

#include <string.h>

#include "tools/task/c_tokens.h"
#include "tools/task/extent.h"

enum {
    HONE_EXTENT_DEPTH = 24,
    HONE_EXTENT_CALLS = 4,
    HONE_EXTENT_ARGS = 32,
    HONE_EXTENT_STEPS = 8,
    HONE_EXTENT_EVALUATED = 100000
};

struct hone_extent_values {
    struct hone_poly lo, hi;
};

struct hone_extent {
    struct hone_pool *pool;
    const struct hone_prototype *proto;
    const char *const *params; /* names in formulas */
    struct hone_c_tokens t;
    struct hone_c_definition d; /* of the function */
    struct hone_extent_name names[HONE_EXTENT_NAMES];
    int n_names;
    const char *steps[HONE_EXTENT_STEPS];
    size_t n_steps;
    bool divides, has_steps;
    int depth;          /* of evaluations in each other */
    size_t n_evaluated; /* the end of patience */
};

/* A function of the source; of the chosen one, args is NULL and names are parameters. */
struct hone_extent_scope {
    struct hone_extent *x;
    const struct hone_c_definition *d;
    const struct hone_extent_scope *caller;
    const size_t *args;  /* tokens of the caller: first and end of each argument */
    size_t n_args, call; /* call: token of the caller */
    int n_calls;
};

static inline const struct hone_c_token *hone_extent_at(const struct hone_extent_scope *s, size_t i)
{
    static const struct hone_c_token none = {"", 0};
    return i < s->x->t.n ? &s->x->t.v[i] : &none;
}

static inline bool hone_extent_is(const struct hone_extent_scope *s, size_t i, const char *text)
{
    return hone_c_is(hone_extent_at(s, i), text);
}
static inline bool hone_extent_is_sign(const struct hone_extent_scope *s, size_t i)
{
    return hone_extent_is(s, i, "+") || hone_extent_is(s, i, "-");
}

static inline bool hone_extent_same(const struct hone_c_token *a, const struct hone_c_token *b)
{
    return a->len == b->len && memcmp(a->at, b->at, a->len) == 0;
}

/* The number of that name; -1: there are too many. */
int hone_extent_find(struct hone_extent *x, const char *text, const struct hone_param *param,
                     bool is_content);
/* Tokens first..end-1 as a value at token `pos`. */
struct hone_extent_values hone_extent_evaluate(const struct hone_extent_scope *s, size_t first,
                                               size_t end, size_t pos);
/* Number of the parameter at token i of a function that is called; -1: none. */
int hone_extent_argument(const struct hone_extent_scope *s, size_t i);
bool hone_extent_is_type(const struct hone_c_token *t);
/* all: what both may be. */
void hone_extent_widen(struct hone_extent_values *all, const struct hone_extent_values *e,
                       bool is_first);
/* Is it the operand of ++ or += in the function's body? */
bool hone_extent_is_counter(const struct hone_extent_scope *s, size_t name);
/* How far a counter, or a pointer that is stepped, gets from what it was set to before token `pos`.
 * is_inside: pos stands in a loop with a step of it, or is one. */
struct hone_poly hone_extent_counted(const struct hone_extent_scope *s, size_t name, size_t pos,
                                     bool *ret_is_inside);
/* The function of the source that is called at the bracket `open`, and the tokens of the arguments
 * there: first and end of each. False: it is none of the source's. */
bool hone_extent_callee(const struct hone_extent_scope *s, size_t open, struct hone_c_definition *d,
                        size_t args[2 * HONE_EXTENT_ARGS], size_t *ret_n);
/* NAME(...) at token `name`: min, max, or a helper of the source with what it returns; not known for
 * others (extent_call.c). */
struct hone_extent_values hone_extent_of_call(const struct hone_extent_scope *s, size_t name,
                                              size_t pos);
/* The parameter of the chosen function that the word at token i is; NULL: none. */
const struct hone_param *hone_extent_param(const struct hone_extent_scope *s, size_t i);
/* An element of the array at token i, which may be a helper's parameter or a pointer into one
 * (extent_call.c). */
struct hone_extent_values hone_extent_content(const struct hone_extent_scope *s, size_t i);
/* ptr[r + 1] - ptr[r] from token *i on, which goes behind it: a row's length is a name of its own.
 * False: there is none. */
bool hone_extent_row_length(const struct hone_extent_scope *s, size_t *i, size_t end,
                            struct hone_extent_values *ret);
/* p without rows' lengths: a * begin + b * length of a row is at most the larger of a and b times
 * where the last row ends. */
struct hone_poly hone_extent_join_lengths(struct hone_extent *x, const struct hone_poly *p);
/* C ? A : B of tokens first..end-1; `mark` is the ?, `colon` the : (extent_call.c). */
struct hone_extent_values hone_extent_of_choice(const struct hone_extent_scope *s, size_t first,
                                                size_t mark, size_t colon, size_t end, size_t pos);
/* The first token behind `from` where a step of it may have been taken: it, or the loop around it. */
size_t hone_extent_first_step(const struct hone_extent_scope *s, size_t name, size_t from);
/* The end of the statement that begins at i: its last token. */
size_t hone_extent_statement_end(const struct hone_extent_scope *s, size_t i);
/* What the name at token `name` may be at token `pos`, narrowed by the conditions that hold there
 * (extent_call.c). */
void hone_extent_narrow(const struct hone_extent_scope *s, size_t name, size_t pos,
                        struct hone_extent_values *e);
/* How often token i is reached in one call of the function; of a loop, how often its body runs. */
struct hone_poly hone_extent_rounds(const struct hone_extent_scope *s, size_t i, bool is_loop);

#endif
