/* SPDX-License-Identifier: Apache-2.0 */
/* Subscripts of flat arrays taken apart into dimensions: i * N + j is [i][j] of rows of N.
 *
 * The row length of each dimension is read from the counters' factors in all subscripts of one
 * array. Whether each index stays inside of its row is for the caller to show: without it two
 * subscripts of one element could look apart. */
#ifndef HONE_AGENTS_SUBSCRIPT_H
#define HONE_AGENTS_SUBSCRIPT_H

#include "agents/source/c_nest.h"

enum { HONE_SUBSCRIPT_MAX_DIMS = 3 };

struct hone_subscript_rows { /* elements from one index to the next, outermost dimension first */
    size_t n_dims;
    struct hone_c_poly pitch[HONE_SUBSCRIPT_MAX_DIMS]; /* the last one is 1 */
    struct hone_c_poly size[HONE_SUBSCRIPT_MAX_DIMS];  /* of the outermost one: not known */
};

typedef bool hone_is_counter_fn(const struct hone_c_node *decl, void *arg);

/* From the index polynomials of one array. False: they do not fit together. */
bool hone_subscript_rows(const struct hone_c_poly *const *index, size_t n,
                         hone_is_counter_fn *is_counter, void *arg,
                         struct hone_subscript_rows *ret);
/* ret[0 .. n_dims): an index for each dimension. False: it cannot be divided so. */
bool hone_subscript_split(const struct hone_c_poly *index, const struct hone_subscript_rows *rows,
                          struct hone_c_poly ret[HONE_SUBSCRIPT_MAX_DIMS]);
/* Is each term a number, a name, or a number times a name? */
bool hone_poly_is_affine(const struct hone_c_poly *poly);

#endif
