/* SPDX-License-Identifier: Apache-2.0 */
/* What the loops of a function do: bounds, steps, index polynomials, reductions, whether iterations
 * are independent.
 *
 * All answers are about the text alone and lean to "unknown"; they choose what is worth trying. The
 * judge decides what is right. */
#ifndef HONE_AGENTS_C_NEST_H
#define HONE_AGENTS_C_NEST_H

#include "agents/source/c_tree.h"

enum {
    HONE_C_MAX_LOOPS = 64,
    HONE_C_MAX_TERMS = 16,
    HONE_C_MAX_FACTORS = 4,
    HONE_C_MAX_REDUCTIONS = 8
};

/* Sum of products of names: i*K + k - 1. */
struct hone_c_factor {
    const struct hone_c_node *decl; /* NULL: a name from outside the source (a tunable) */
    const char *name;
};
struct hone_c_term {
    int64_t k;
    size_t n_factors;
    struct hone_c_factor factors[HONE_C_MAX_FACTORS];
};
struct hone_c_poly {
    bool is_known;
    size_t n;
    struct hone_c_term terms[HONE_C_MAX_TERMS];
};

enum hone_c_stride {
    HONE_C_STRIDE_ZERO,
    HONE_C_STRIDE_UNIT,
    HONE_C_STRIDE_FAR,
    HONE_C_STRIDE_UNKNOWN
};

struct hone_c_loop {
    const struct hone_c_tree *tree;
    const struct hone_c_node *node;
    const struct hone_c_node *var; /* declaration of the induction variable */
    const struct hone_c_node *lower,
        *upper;       /* expressions; the upper one is exclusive unless is_inclusive */
    const char *step; /* text, "1" */
    bool is_unit_step, is_inclusive;
    bool is_canonical; /* for (T v = a; v < b; v += c), v not written in the body */
    /* for (T v = a; v >= b; v--), else as canonical, which it is not: `lower` is b (exclusive with
     * is_exclusive_below) and `upper` is a, inclusive */
    bool counts_down, is_exclusive_below;
    bool declares_var;
    bool is_innermost;
    bool is_fallback; /* what a rewrite left for odd sizes: in the else branch of an if about a
                         tunable, a loop that starts where whole blocks end (<name>_full), or what
                         runs at borders (to <name>_head, from <name>_tail) with loops in it */
    bool is_small;    /* the upper bound is a literal or a tunable */
    int depth;        /* 0: outermost */
    struct hone_c_loop *parent;
    uint32_t begin;              /* start of the pragma lines in front of it, or node->begin */
    bool has_parallel, has_simd; /* omp pragmas found there; parallel too: the second loop of a
                                    collapsed pair, which has to stay where it is */
    bool has_collapse;
};

/* Not to be copied: `parent` of its loops points into it. */
struct hone_c_nest {
    const struct hone_c_tree *tree;
    const struct hone_c_node *function;
    size_t n;
    struct hone_c_loop loops[HONE_C_MAX_LOOPS]; /* source order; more are ignored */
};

struct hone_c_access {
    const struct hone_c_node *node;
    const struct hone_c_node
        *root; /* parameter or local that the memory belongs to; NULL unknown */
    struct hone_c_poly index;
    const char *field; /* "x" of p[i].x; NULL: all of the element */
    bool is_write, is_read;
};

struct hone_c_reduction {
    const struct hone_c_node *var;  /* scalar declared outside the loop */
    const char *op;                 /* "+", "*", "max", "min" */
    const struct hone_c_node *stmt; /* the one statement */
    const struct hone_c_node *expr; /* what is added or compared */
};

enum hone_c_why { /* why iterations may not run in any order; a row of words each */
                  HONE_C_FREE,
                  HONE_C_BOUNDS,
                  HONE_C_LEFT_EARLY,
                  HONE_C_CARRIED_SCALAR,
                  HONE_C_POINTER_CALL,
                  HONE_C_STATE_CALL,
                  HONE_C_MANY_ACCESSES,
                  HONE_C_UNKNOWN_ARRAY,
                  HONE_C_NOT_AFFINE,
                  HONE_C_SAME_ELEMENT,
                  HONE_C_CARRIED_ARRAY
};
struct hone_c_obstacle {
    const char *code, *words;     /* "not_affine" and a sentence; "free": nothing stands */
    const struct hone_c_node *at; /* the jump, scalar, call or access; NULL: the loop itself */
};

void hone_c_nest_of(const struct hone_c_tree *tree, const struct hone_c_node *function,
                    struct hone_c_nest *ret);
const struct hone_c_loop *
hone_c_loop_of(const struct hone_c_nest *nest,
               const struct hone_c_node *for_node); /* NULL: not a loop of it */
struct hone_c_poly hone_c_poly_of(const struct hone_c_node *function,
                                  const struct hone_c_node *expr);
struct hone_c_poly hone_c_poly_product(const struct hone_c_poly *a, const struct hone_c_poly *b);
/* a + sign * b */
struct hone_c_poly hone_c_poly_sum(const struct hone_c_poly *a, const struct hone_c_poly *b,
                                   int64_t sign);
/* What stands beside the variable in the terms that have it; unknown where it stands twice in one. */
struct hone_c_poly hone_c_poly_beside(const struct hone_c_poly *poly,
                                      const struct hone_c_node *var);
/* a / b; false: b is no divisor. */
bool hone_c_term_over(const struct hone_c_term *a, const struct hone_c_term *b,
                      struct hone_c_term *ret);
/* Is it a number? */
bool hone_c_poly_is_number(const struct hone_c_poly *poly, int64_t *ret);
/* Are the two apart by a number, which is a - b? */
bool hone_c_poly_distance(const struct hone_c_poly *a, const struct hone_c_poly *b, int64_t *ret);
bool hone_c_same_factors(const struct hone_c_term *a, const struct hone_c_term *b);
enum hone_c_stride hone_c_poly_stride(const struct hone_c_poly *poly,
                                      const struct hone_c_node *var);
/* Fills in up to max accesses of the subtree; returns how many there are. Local arrays and pointers
 * are followed to their root. */
size_t hone_c_accesses(const struct hone_c_node *function, const struct hone_c_node *top,
                       struct hone_c_access *ret, size_t max);
/* Are both of one array under two names, the one by a pointer that was moved and never set again? By
 * how far nobody knows. */
bool hone_c_is_moved_beside(const struct hone_c_node *function, const struct hone_c_access *a,
                            const struct hone_c_access *b);
/* Scalars that live outside `loop` and are written in it. False when one of them is not
 * a plain reduction. */
bool hone_c_reductions(const struct hone_c_loop *loop, struct hone_c_reduction *ret, size_t *ret_n);
/* The same but for n_aside variables, whose writes the caller has read. */
bool hone_c_reductions_but(const struct hone_c_loop *loop, const struct hone_c_node *const *aside,
                           size_t n_aside, struct hone_c_reduction *ret, size_t *ret_n);
bool hone_c_writes_scalar(const struct hone_c_loop *loop); /* is there one, plain or not? */
/* The first thing found that stands against any order of iterations (reductions aside). */
struct hone_c_obstacle hone_c_obstacle_of(const struct hone_c_nest *nest,
                                          const struct hone_c_loop *loop);
/* Could iterations run in any order? *ret_why: the obstacle's words (constant text). */
bool hone_c_is_parallel(const struct hone_c_nest *nest, const struct hone_c_loop *loop,
                        const char **ret_why);
/* The same, where the caller has read all that is done with `aside`: an array that the iterations
 * share. */
bool hone_c_is_parallel_but(const struct hone_c_nest *nest, const struct hone_c_loop *loop,
                            const struct hone_c_node *aside);
/* The statement inside a body with one statement in it, through braces; NULL when
 * there are several. */
const struct hone_c_node *hone_c_only_stmt(const struct hone_c_node *body);
/* The first call that gets a pointer or an array; NULL: none. */
const struct hone_c_node *hone_c_pointer_call(const struct hone_c_node *top);
/* The first call of a function of this source that keeps something between calls, itself or by one
 * that it reaches: a variable of the file or a static one that is not const. NULL: none. */
const struct hone_c_node *hone_c_state_call(const struct hone_c_tree *tree,
                                            const struct hone_c_node *top);
/* Is the node reached in each iteration of the loop (jumps aside), so that it may be read ahead? */
bool hone_c_is_always_reached(const struct hone_c_node *loop, const struct hone_c_node *node);
/* Is the expression free of anything that changes inside `top`? */
bool hone_c_is_invariant(const struct hone_c_node *expr, const struct hone_c_node *top);

#endif
