/* SPDX-License-Identifier: Apache-2.0 */
/* How far a function reaches into its arrays, told from loops and subscripts: out[y * w + x] in
 * loops to h and w reaches h*w elements.
 *
 * Words are read, nothing is compiled. A variable is as large as the loop around it allows, or as a
 * comparison with a size, or as what is assigned to it; helper functions of the same source are
 * followed. What is not understood is not known, never guessed: a pointer that is stepped, a
 * counter in a subscript. */
#ifndef HONE_TOOLS_EXTENT_H
#define HONE_TOOLS_EXTENT_H

#include "tools/task/size_poly.h"
#include "tools/task/prototype.h"

enum { HONE_EXTENT_NAMES = 64 };

struct hone_extent_name {
    const char *text;               /* a parameter, or a formula of sizes */
    const struct hone_param *param; /* integer; or the array whose largest value this is */
    bool is_content;                /* the largest value in that array */
    bool is_length;                 /* the largest ptr[r + 1] - ptr[r] instead */
};

struct hone_reach {
    struct hone_poly size; /* elements; not known: something was not understood */
    bool is_one;           /* *p and p[0] alone */
    bool starts_late;      /* its first elements are not touched */
    bool has_steps;        /* a loop goes by more than 1: the size may be less if that divides */
};

struct hone_extent;

/* names: what formulas call the parameters, one each. In the pool; prototype and names must
 * stay. */
int hone_extent_open(const char *source, const struct hone_prototype *proto,
                     const char *const *names, struct hone_pool *pool, struct hone_extent **ret,
                     struct hone_err *err);
const struct hone_extent_name *hone_extent_name(const struct hone_extent *x, int name);
/* divides: the steps of loops divide what they run to. For an array of several dimensions (A[][N])
 * the reach of its first subscript. */
struct hone_reach hone_extent_reach(struct hone_extent *x, const struct hone_param *param,
                                    bool divides);
/* The integer that each subscript of the array has a product with, a row's length; NULL: there is
 * none, or not one for all. */
const struct hone_param *hone_extent_row(struct hone_extent *x, const struct hone_param *param);
/* "n % (2*half) == 0" for the loops with steps that hone_extent_reach met, at most max; how many. */
size_t hone_extent_steps(struct hone_extent *x, const char **ret, size_t max);
/* Blocks along y and z of the launches, formulas of sizes, at most max; how many. Of a CUDA file
 * that cuda_in.h made loops of. */
size_t hone_extent_blocks(struct hone_extent *x, const char **ret, size_t max);
/* p with `name`, less `less`, in place of the largest value that the array holds. */
struct hone_poly hone_extent_bounded(struct hone_extent *x, const struct hone_poly *p,
                                     const struct hone_param *array, const char *name,
                                     int64_t less);
/* Does the function do no more with the integer than say (void)name? */
bool hone_extent_is_unused(const struct hone_extent *x, const char *name);
/* The product of sizes as a formula, "n*m - n"; in the pool. */
const char *hone_extent_text(const struct hone_extent *x, const struct hone_poly *p);
/* How often the bodies of the loops run in all, those of functions that it calls with them, as a
 * formula; "1" counts none. */
const char *hone_extent_work(struct hone_extent *x);
/* Operations of floating point in one call as a formula, where the source tells them exactly: each
 * loop runs from one known value to another, without a condition inside, and nothing is called but
 * helpers of the source and what takes one instruction (sqrt, fabs, fma). NULL: it does not, or
 * there are none. In the pool. */
const char *hone_extent_operations(struct hone_extent *x);
/* May the integer say how large something is? No: no loop, subscript or reach has it. */
bool hone_extent_is_size(struct hone_extent *x, const char *name);

#endif
