/* SPDX-License-Identifier: Apache-2.0 */
/* A plain tree of one C source: what the rule coder and the static features look at. No libclang
 * type appears here.
 *
 * Offsets are bytes of the source text; every node covers [begin, end). Expression statements do
 * not include their ';'. The whole tree, names included, lives in the pool it was made in. Read
 * only after hone_c_parse. */
#ifndef HONE_AGENTS_C_TREE_H
#define HONE_AGENTS_C_TREE_H

#include "workspace/base/buf.h"

enum hone_c_kind {
    HONE_C_FILE,
    HONE_C_FUNCTION,
    HONE_C_PARAM,
    HONE_C_VAR,
    HONE_C_COMPOUND,
    HONE_C_DECL_STMT,
    HONE_C_FOR,
    HONE_C_WHILE,
    HONE_C_IF,
    HONE_C_JUMP, /* return, break, continue, goto */
    HONE_C_CALL,
    HONE_C_REF,
    HONE_C_SUBSCRIPT,
    HONE_C_BINARY,    /* also = */
    HONE_C_ASSIGN_OP, /* += and the like */
    HONE_C_UNARY,
    HONE_C_CONST,
    HONE_C_PAREN,
    HONE_C_CAST,
    HONE_C_CONDITIONAL,
    HONE_C_MEMBER,
    HONE_C_OTHER
};

enum hone_c_language { HONE_C_PLAIN, HONE_C_CUDA };

enum hone_c_cuda_flag { /* written in front of a declaration */
                        HONE_C_IS_GLOBAL = 1,
                        HONE_C_IS_DEVICE = 2,
                        HONE_C_IS_SHARED = 4,
                        HONE_C_IS_TEMPLATE = 8
};

struct hone_c_node {
    enum hone_c_kind kind;
    uint32_t begin, end;
    uint32_t name_at; /* declarations: where the name stands */
    struct hone_c_node *parent, *first, *last, *next;
    const char *op;   /* "+", "+=", "!"... ; "" when it could not be read (a macro) */
    const char *name; /* declarations, references, calls, members ("threadIdx.x" for those that CUDA
                         defines); "" otherwise */
    const char *type; /* canonical spelling, "const float *"; "" for statements */
    const struct hone_c_node *decl; /* of a reference: the declaration in this source, or NULL */
    bool is_postfix;
    unsigned cuda; /* of enum hone_c_cuda_flag */
    struct hone_c_node *init, *cond, *inc,
        *body; /* parts of a for (NULL: absent); body also of functions and while */
};

struct hone_c_size {
    const struct hone_c_node *decl; /* a parameter that nothing sets; NULL: a tunable */
    const char *name;
    const int64_t *values; /* one for each size */
};
struct hone_c_sizes { /* what names stand for in the task's public sizes (c_sizes.h) */
    const struct hone_c_size *v;
    size_t n, n_sizes; /* names; sizes, at least one */
};

struct hone_c_tree {
    enum hone_c_language language;
    const char *source;
    uint32_t len;
    struct hone_c_node *root;
    struct hone_pool *pool;
    const uint32_t *lines; /* of a text that was made from another one: for each of its lines the
                              line there, from 1; NULL: as written */
    const struct hone_c_sizes *sizes; /* NULL: nobody knows */
};

/* Next node of the subtree of `top` in source order, NULL at the end: for (n = top; n; n =
 * hone_c_walk(top, n)). */
struct hone_c_node *hone_c_walk(const struct hone_c_node *top, const struct hone_c_node *node);
/* Through parentheses and casts to the expression inside. */
const struct hone_c_node *hone_c_strip(const struct hone_c_node *node);
/* Parentheses alone taken off; NULL stays. */
const struct hone_c_node *hone_c_bare(const struct hone_c_node *node);
/* Do both have the same text, white space and parentheses around them aside? */
bool hone_c_is_same_text(const struct hone_c_tree *tree, const struct hone_c_node *a,
                         const struct hone_c_node *b);
struct hone_c_node *hone_c_function(const struct hone_c_tree *tree,
                                    const char *name); /* with a body; NULL: none */
/* The function and those of this source that it reaches by calls or by name, itself first, then as
 * they are met; at most max. Returns how many. */
size_t hone_c_reached(const struct hone_c_tree *tree, const struct hone_c_node *function,
                      const struct hone_c_node **ret, size_t max);
bool hone_c_contains(const struct hone_c_node *outer, const struct hone_c_node *inner);
/* The node's type without const, as of a variable that holds its value; a pointer's as it is. */
const char *hone_c_value_type(const struct hone_c_node *node);
bool hone_c_is_floating(const char *type); /* a number, or a pointer to some */
/* Does the subtree name this declaration? */
bool hone_c_uses(const struct hone_c_node *top, const struct hone_c_node *decl);
/* Is the reference the array of an element, Y of Y[i], whose address is not taken? */
bool hone_c_is_element(const struct hone_c_node *ref);
/* Is the declaration, or a member of it, assigned, incremented or has its address taken in the
 * subtree? */
bool hone_c_writes(const struct hone_c_node *top, const struct hone_c_node *decl);
/* Is the declaration's own address taken in the subtree? */
bool hone_c_takes_address(const struct hone_c_node *top, const struct hone_c_node *decl);
size_t hone_c_n_children(const struct hone_c_node *node);
struct hone_c_node *hone_c_child(const struct hone_c_node *node, size_t i);
/* Is it a statement in a block (not an expression inside another)? */
bool hone_c_is_stmt(const struct hone_c_node *node);
/* Offset behind the statement, its ';' included. */
uint32_t hone_c_stmt_end(const struct hone_c_tree *tree, const struct hone_c_node *stmt);
uint32_t hone_c_line(const struct hone_c_tree *tree, uint32_t offset); /* as written, from 1 */
char *hone_c_text(const struct hone_c_tree *tree, const struct hone_c_node *node); /* in the pool */
/* Source position behind white space and comments. */
uint32_t hone_c_skip_space(const char *source, uint32_t len, uint32_t at);
/* The text with comments dropped and every run of white space made one blank; owned. What the
 * duplicate filter hashes. */
char *hone_c_normalise(const char *source);

#endif
