/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of products whose factors are gathered, with a thread for each element:
 *
 *     acc = init; for c for q for r if (inside) acc += L[rows, sum] * R[columns, sum]; ... store ...
 *
 * as direct convolutions are. Each axis of the grid is a number in a mixed radix, x = e % W,
 * y = e / W % H, and its digits are the element's indices. L's address depends on some of them, R's
 * on others, both on the sum's loops; the guard goes with R. An address, and each side of a guard's
 * comparison, is what the element gives plus what the sum's loops give: such an expression is
 * split. A set of digits is a mask of places in their list. */
#ifndef HONE_AGENTS_CUDA_GATHER_H
#define HONE_AGENTS_CUDA_GATHER_H

#include "agents/source/cuda_kernel.h"

enum {
    HONE_CUDA_MAX_DIGITS = 8,
    HONE_CUDA_MAX_SUM_LOOPS = 5,
    HONE_CUDA_MAX_CONDS = 8,
    HONE_CUDA_MAX_OFFSETS = 4
};
enum { /* what an expression depends on, beside digits */
       HONE_CUDA_ON_SUM = 1 << 28,
       HONE_CUDA_ON_MEMORY = 1 << 29,
       HONE_CUDA_ON_UNKNOWN = 1 << 30,
       HONE_CUDA_ON_DIGITS = HONE_CUDA_ON_SUM - 1
};

struct hone_cuda_digit {               /* axis / below % size */
    const struct hone_c_node *var;     /* NULL: no name stands for it */
    const struct hone_cuda_axis *axis; /* which it is a digit of */
    struct hone_c_term below, size;    /* products of what a launch gives */
    bool is_open; /* the highest: its size is the bound over below, rounded up */
    bool is_axis; /* the axis by itself */
};
struct hone_cuda_composite { /* another local that is made of an axis alone */
    const struct hone_c_node *var;
    unsigned digits; /* 0: no digits that stand side by side */
};
struct hone_cuda_digits {
    const struct hone_cuda_kernel *k;
    struct hone_cuda_digit v[HONE_CUDA_MAX_DIGITS]; /* those of an axis from the lowest on */
    size_t n;
    struct hone_cuda_composite others[HONE_CUDA_MAX_DIGITS];
    size_t n_others;
};
bool hone_cuda_read_digits(const struct hone_cuda_kernel *k, struct hone_cuda_digits *ret);
bool hone_cuda_is_one(const struct hone_c_term *term);
/* Of the value, also through locals that are set once. */
unsigned hone_cuda_mask(const struct hone_cuda_digits *d, const struct hone_c_loop *const *loops,
                        size_t n_loops, const struct hone_c_node *expr);

struct hone_cuda_factor {
    const struct hone_c_node *expr, *load; /* the whole, and the element of the array in it */
    const struct hone_c_node *root;        /* parameter */
    struct {
        const struct hone_c_node *expr;
        bool is_negated;
    } offsets[HONE_CUDA_MAX_OFFSETS]; /* their sum is where the element lies */
    size_t n_offsets;
    unsigned digits;
};

struct hone_cuda_gather {
    const struct hone_cuda_kernel *k;
    struct hone_cuda_digits digits;
    const struct hone_c_node *nest, *acc;
    const struct hone_c_loop *loops[HONE_CUDA_MAX_SUM_LOOPS]; /* outermost first */
    size_t n_loops;
    struct {
        const struct hone_c_node *expr;
        bool is_negated;
    } conds[HONE_CUDA_MAX_CONDS]; /* all must hold */
    size_t n_conds;
    struct hone_cuda_factor left, right;
    unsigned rows, columns; /* digits; each is in one of them */
};
bool hone_cuda_read_gather(const struct hone_cuda_kernel *k, struct hone_cuda_gather *ret);
unsigned hone_cuda_gather_mask(const struct hone_cuda_gather *g, const struct hone_c_node *expr);
/* The call by which C++ copies a class, as of a 16-bit float; nothing is written for it. */
bool hone_cuda_is_copy(const struct hone_c_node *expr);
/* The value of a local that is set once, through parentheses; else the expression. */
const struct hone_c_node *hone_cuda_behind(const struct hone_cuda_kernel *k,
                                           const struct hone_c_node *expr);
/* Of c ? value : 0 and c ? 0 : value the value; NULL: it is neither. */
const struct hone_c_node *hone_cuda_chosen(const struct hone_cuda_gather *g,
                                           const struct hone_c_node *choice);
bool hone_cuda_is_comparison(const struct hone_c_node *expr);
/* Is it made as unsigned numbers, where a negative one is a large one? */
bool hone_cuda_is_unsigned(const struct hone_c_node *comparison);

#endif
