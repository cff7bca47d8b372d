/* SPDX-License-Identifier: Apache-2.0 */
/* A loop over rows whose columns follow from the row above and from the column on the left: what
 * skewed_lanes.c makes text of. */
#ifndef HONE_AGENTS_SKEWED_FORM_H
#define HONE_AGENTS_SKEWED_FORM_H

#include "agents/source/site.h"

enum {
    HONE_SKEW_MAX_ACCESSES = 64,
    HONE_SKEW_MAX_MEMORY = 6,
    HONE_SKEW_MAX_COLUMNS = 6,
    HONE_SKEW_MAX_LOCALS = 16
};

enum hone_skew_place {
    HONE_SKEW_NOW,
    HONE_SKEW_LEFT,
    HONE_SKEW_ABOVE,
    HONE_SKEW_CORNER,
    HONE_SKEW_ELSEWHERE
}; /* seen from the element that is written */

enum hone_skew_kind {
    HONE_SKEW_MATRIX, /* a row for each i */
    HONE_SKEW_ROW,    /* the same row for all i */
    HONE_SKEW_PAIR    /* two rows: swapped, or one copied to the other, behind the columns */
};

struct hone_skew_memory { /* an array of which the inner loop writes one element a column */
    enum hone_skew_kind kind;
    bool is_copied; /* PAIR: to the row above */
    const struct hone_c_node *root;
    const struct hone_c_node *other; /* HONE_SKEW_PAIR: the pointer to the row above */
    const struct hone_c_node
        *at[HONE_SKEW_ELSEWHERE]; /* an access of each kind; at[HONE_SKEW_NOW]: the write */
    struct hone_c_poly index;     /* of the write */
    const char *type, *stem;
};

struct hone_skew_column { /* an input that depends on the column alone */
    const char *text, *type, *stem;
};

struct hone_skew {
    const struct hone_coder_input *in;
    const struct hone_c_loop *rows, *columns;
    const struct hone_c_node *body, *inner; /* of the rows; and of the columns */
    const char *lane, *first, *full, *step, *n_columns, *count;
    struct hone_c_edits edits;
    struct hone_c_access accesses[HONE_SKEW_MAX_ACCESSES]; /* of the rows' body */
    size_t n_accesses;
    struct hone_skew_memory memory[HONE_SKEW_MAX_MEMORY];
    size_t n_memory;
    struct hone_skew_column inputs[HONE_SKEW_MAX_COLUMNS];
    size_t n_inputs;
    const struct hone_c_node *locals[HONE_SKEW_MAX_LOCALS]; /* that a row has across its columns */
    const char *local_names[HONE_SKEW_MAX_LOCALS],
        *sum_names[HONE_C_MAX_REDUCTIONS]; /* of their arrays */
    size_t n_locals;
    const struct hone_c_node *pointers[HONE_SKEW_MAX_LOCALS]; /* that a lane computes again */
    size_t n_pointers;
    struct hone_skew_swap { /* `T *t = a; a = b; b = t;`, or a[...] = b[...] in a loop */
        const struct hone_c_node *a, *b, *temporary, *first, *last;
        const struct hone_c_loop *copy; /* NULL: pointers are swapped */
    } swaps[HONE_SKEW_MAX_MEMORY];
    size_t n_swaps;
    struct hone_c_reduction sums[HONE_C_MAX_REDUCTIONS];
    size_t n_sums;
    struct hone_buf out; /* the text */
};

/* Fills in *ret and its edits of the columns' body, which read and write the arrays of the lanes.
 * False: the loop is no such one. Everything lives in the input's pool. */
bool hone_skew_read(const struct hone_coder_input *in, const struct hone_c_loop *rows,
                    struct hone_skew *ret);
/* Is the statement a part of `T *t = a; a = b; b = t;`? */
bool hone_skew_is_in_swap(const struct hone_skew *s, const struct hone_c_node *stmt);

#endif
