/* SPDX-License-Identifier: Apache-2.0 */
/* Pieces of text for a sum of gathered factors that becomes a product by tiles (cuda_gather_tile.c):
 * the digits of rows and columns, and offsets and guards as what the element gives plus what the
 * sum's loops give. Everything lives in the input's pool. */
#ifndef HONE_AGENTS_CUDA_GATHER_TILE_H
#define HONE_AGENTS_CUDA_GATHER_TILE_H

#include "agents/source/cuda_gather.h"

enum { HONE_TILE_MAX_NUMBERS = 12 };

struct hone_tile_numbers {
    const char *texts[HONE_TILE_MAX_NUMBERS];
    size_t n;
};

struct hone_tile {
    const struct hone_cuda_kernel *k;
    struct hone_cuda_gather g;
    struct hone_pool *pool;
    const char *bm, *bn, *bk, *tm, *tn;            /* tunables */
    const char *digits[HONE_CUDA_MAX_DIGITS];      /* their names */
    const char *moved, *held, *fixed, *entry, *at; /* names in the new text */
    /* what is added up to offsets and guards */
    struct hone_tile_numbers by_sum, by_column, by_launch;
    bool is_full; /* there were too many of them */
};

const char *hone_tile_type(const struct hone_tile *t, const struct hone_c_node *var);
/* A product in 64 bits, in the kernel or at a launch; NULL: it is not known there. */
const char *hone_tile_term(const struct hone_tile *t, const struct hone_c_term *term,
                           const struct hone_cuda_launch *launch);
/* Of the digit, and how many rows or columns these digits make; NULL as above. */
const char *hone_tile_size(const struct hone_tile *t, size_t digit,
                           const struct hone_cuda_launch *launch);
const char *hone_tile_count(const struct hone_tile *t, unsigned digits,
                            const struct hone_cuda_launch *launch);
/* Declares the digits of the row or column `from`. */
const char *hone_tile_split(const struct hone_tile *t, unsigned digits, const char *from);
/* The same, of the first one where there is no element. */
const char *hone_tile_clamped(const struct hone_tile *t, unsigned digits, const char *from);
/* " && e < bound" of the axes whose bound may end within the highest digit. */
const char *hone_tile_bounds(const struct hone_tile *t, unsigned digits);
/* Declares the axes whose digits are known. */
const char *hone_tile_axes(const struct hone_tile *t);
/* What the sum's loops, or the element, add to a factor's place. */
const char *hone_tile_offset(const struct hone_tile *t, const struct hone_cuda_factor *factor,
                             bool is_sum);
/* The text's place in the list, where each stands once. */
size_t hone_tile_number(struct hone_tile *t, struct hone_tile_numbers *list, const char *text);
/* " & ..." for all conditions, so that no branch comes of it; NULL: there are too many. */
const char *hone_tile_guards(struct hone_tile *t);
/* The factor, from the node on, with another place to load from. */
const char *hone_tile_load(const struct hone_tile *t, const struct hone_cuda_factor *factor,
                           const struct hone_c_node *node, const char *pointer, const char *offset);
/* Does it lie along the innermost loop? */
bool hone_tile_is_along_sum(const struct hone_tile *t, const struct hone_cuda_factor *factor);

#endif
