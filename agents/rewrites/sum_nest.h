/* SPDX-License-Identifier: Apache-2.0 */
/* One sum in a body under a loop over rows, or over rows and columns, whose bounds may follow the
 * row: a triangular product, a solver's row, a matrix times a vector. What sum_tile.c cuts into
 * blocks, and whether it may.
 *
 *     for i { [statements] for j in [lo(i), hi(i)) { locals; for k in [a(i), b(i)) acc += E; ... } }
 *
 * A block adds up the sums over those k that all of its rows have, before any of its elements is
 * finished. Elements are finished in their order, with the k that are left. So what E reads there
 * must not be written by the block, and must exist for each pair of row and column of the block.
 * What else the sum's loop does, and other loops in a row's body, run when an element is finished. */
#ifndef HONE_AGENTS_SUM_NEST_H
#define HONE_AGENTS_SUM_NEST_H

#include "agents/polyhedral/order_pair.h"

enum { HONE_SUM_MAX_UPDATES = 4, HONE_SUM_MAX_OTHERS = 4 };

struct hone_sum_update { /* acc += expr */
    const struct hone_c_node *stmt, *var, *expr;
    bool is_minus;
};

struct hone_sum_addition { /* Y[k] += value */
    const struct hone_c_node *stmt, *target, *value;
    bool is_minus;
};

struct hone_sum_nest {
    const struct hone_c_loop *rows, *columns; /* columns NULL: a sum for each row */
    const struct hone_c_loop *sum;
    const struct hone_c_node *body;  /* of the columns, else of the rows */
    const struct hone_c_node *first; /* of statements in front of the columns' loop; NULL: none */
    struct hone_sum_update updates[HONE_SUM_MAX_UPDATES];
    size_t n_updates;
    const struct hone_c_node *others[HONE_SUM_MAX_OTHERS]; /* statements of the sum's loop beside
                                                              them: s[k] += r[i] * A[i, k] */
    size_t n_others;
    bool others_first; /* for a row, they may run for all of a block's columns at first */
    /* Rows without columns: all others add to arrays that nothing else in the nest names, at places
     * that all rows share, what nothing in the nest writes. A block may add what its rows do at
     * once. n_additions 0: not so. Without any update there are some. */
    struct hone_sum_addition additions[HONE_SUM_MAX_OTHERS];
    size_t n_additions;
    int column_lower, column_upper, sum_lower, sum_upper; /* factor of the row: -1, 0, 1 */
    bool along_sum;  /* vectors run along k, not along the columns */
    bool for_panels; /* asked for to be packed (sum_panels.h): memory may lie in any way */
    struct hone_order_pair order;
};

/* The nest around a loop, its innermost one. False: it has another form, or it may not be cut. With
 * for_panels it has columns. */
bool hone_sum_nest_of(const struct hone_coder_input *in, const struct hone_c_loop *sum,
                      bool for_panels, struct hone_sum_nest *ret);
/* Is what the expression reads, the counters of the nest aside, written nowhere in the nest? */
bool hone_sum_is_fixed(const struct hone_coder_input *in, const struct hone_sum_nest *nest,
                       const struct hone_c_node *expr);

#endif
