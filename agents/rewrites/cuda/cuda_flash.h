/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel that is a softmax-weighted sum, as cuda_flash.c reads it, and the text that its two forms
 * share: sums in registers (cuda_flash.c) and tensor cores (cuda_flash_mma.c). Texts are in the
 * input's pool. */
#ifndef HONE_AGENTS_CUDA_FLASH_H
#define HONE_AGENTS_CUDA_FLASH_H

#include "agents/source/cuda_kernel.h"

struct hone_flash {
    const struct hone_cuda_kernel *k;
    const struct hone_c_node *row;               /* the axis x */
    const struct hone_cuda_axis *axis, *held[2]; /* of the row; of head and batch */
    size_t n_held;
    const struct hone_c_node *t, *period;             /* t = row % period; NULL: none */
    const struct hone_c_node *top, *sum, *total;      /* declarations */
    const struct hone_c_loop *max_loop, *loop, *last; /* over keys, over keys, over elements */
    const struct hone_c_loop *dot, *add;              /* inside loop */
    const struct hone_c_node *score, *query, *key, *value, *scaled, *exp_call;
    const char *max_size; /* of the local array */
};

/* Has a row as many keys as its place in its group says? */
bool hone_flash_is_by_row(const struct hone_flash *f);
/* An expression of the row's with its own names for row and t; other locals without the row keep
 * theirs. inner: its variable is named d; NULL: none. */
const char *hone_flash_expression(const struct hone_flash *f, const struct hone_c_node *expr,
                                  const struct hone_c_loop *inner, const char *d, const char *t);
/* Declarations in front of the loops: those without the row, or those with it. */
const char *hone_flash_declarations(const struct hone_flash *f, bool with_row);
/* Declares head and batch, out of the number of their pair, which is named and changed; NULL: a bound
 * is not known there. */
const char *hone_flash_held(const struct hone_flash *f, const char *group);
/* What is done with an element of the sum, which is named. */
const char *hone_flash_store(const struct hone_flash *f, const char *total);

/* A block of `rows` rows; all are texts. */
struct hone_flash_text {
    const char *pragmas, *helpers, *body;
    const char *bounds;                 /* of a launch */
    const char *rows, *threads, *bytes; /* as a launcher may say it; bytes NULL: not known yet */
};

/* ---- tensor cores ---- */

struct hone_flash_loads {
    const struct hone_c_node *query, *key, *value; /* subscripts */
    const char *type;                              /* of all three */
    const char *factor; /* what makes the exponential's argument one of 2^x */
    int head;           /* elements, padded to a multiple of 16, for warpgroups of 64 */
    bool is_linear;     /* keys and values are as far apart as the next ones */
};

/* Are queries, keys and values plain loads of one 16-bit type, each along its elements, which are
 * few enough? is_wide: for Hopper's warpgroups. */
bool hone_flash_read_loads(const struct hone_flash *f, bool is_wide, struct hone_flash_loads *ret);
/* false: a bound changes. */
bool hone_flash_mma(const struct hone_flash *f, bool is_wide, struct hone_flash_text *ret);

#endif
