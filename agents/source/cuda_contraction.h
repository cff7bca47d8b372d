/* SPDX-License-Identifier: Apache-2.0 */
/* Contractions: kernels with a thread for each element of
 *
 *     acc = init; for k acc += L(i, k) * R(k, j);
 *
 * and of a batch of them: a third index may stand in L, in R or in both. What is the same for all
 * elements of one product of the batch (a pointer moved by the batch, digits of the batch's index)
 * is held: a tiling says it once for a block. Each store must tell the elements apart, along all
 * three indices, and go to no array that a factor is read from. No bound may depend on an index:
 * products of a batch have one size. */
#ifndef HONE_AGENTS_CUDA_CONTRACTION_H
#define HONE_AGENTS_CUDA_CONTRACTION_H

#include "agents/source/cuda_kernel.h"

enum { HONE_CUDA_MAX_HELD = 8, HONE_CUDA_MAX_SUBS = 16 };

struct hone_cuda_contraction {
    const struct hone_cuda_kernel *k;
    const struct hone_c_loop *loop;
    const struct hone_c_node *acc;                      /* declaration */
    const struct hone_c_node *left, *right;             /* factors: rows and columns */
    const struct hone_cuda_axis *row, *column, *batch;  /* batch NULL: none */
    bool left_along_k, right_along_k;                   /* contiguous by k, not by row or column */
    const struct hone_c_node *held[HONE_CUDA_MAX_HELD]; /* declarations in front of the loop */
    size_t n_held;
};

bool hone_cuda_read_contraction(const struct hone_cuda_kernel *k,
                                struct hone_cuda_contraction *ret);

/* Is it one loop with acc += a * b in it, whatever the axes? */
bool hone_cuda_sums_products(const struct hone_cuda_kernel *k);

/* ---- text that tilings of it share ---- */

/* The statements around the loop, which itself gives way to adding the total. */
const char *hone_cuda_contraction_finish(const struct hone_cuda_contraction *c, const char *total);
/* Where the tile lies: tiles of a band of 8 rows of tiles go down the columns, so that what is in
 * L2 is used again (G21). For hone_cuda_fill; needs n_columns, tile, BM, BN. */
#define HONE_CUDA_TILE_ORDER                                                                       \
    "const int64_t @n_rows@ = (@row_bound@ + @BM@ - 1) / @BM@;\n"                                  \
    "const int64_t @band@ = @tile@ / (8 * @n_columns@) * 8, @in_band@ = @tile@ % (8 * "            \
    "@n_columns@);\n"                                                                              \
    "const int64_t @band_rows@ = @n_rows@ - @band@ < 8 ? @n_rows@ - @band@ : 8;\n"                 \
    "const int64_t @row_at@ = (@band@ + @in_band@ % @band_rows@) * @BM@;\n"                        \
    "const int64_t @column_at@ = @in_band@ / @band_rows@ * @BN@;\n"
/* Row, column, batch, k and what is held, each by its own name; returns how many. */
size_t hone_cuda_contraction_subs(const struct hone_cuda_contraction *c,
                                  struct hone_cuda_sub ret[HONE_CUDA_MAX_SUBS]);
/* What one step of row, column or k adds to an index, in 64 bits; NULL: not known, or not the same
 * everywhere in a product. */
const char *hone_cuda_contraction_pitch(const struct hone_cuda_contraction *c,
                                        const struct hone_c_poly *index,
                                        const struct hone_c_node *var);
/* Declares the number of the tile, the batch's index and what is held. */
const char *hone_cuda_contraction_batch(const struct hone_cuda_contraction *c, const char *bm,
                                        const char *bn, const char *tile);
/* Blocks for all tiles; NULL: a bound is not known there. */
const char *hone_cuda_contraction_grid(const struct hone_cuda_contraction *c,
                                       const struct hone_cuda_launch *l, const char *bm,
                                       const char *bn);
/* ---- sums in parts ----
 * Where tiles are few, the blocks along y of a grid have a part of k each. They leave partial sums
 * in scratch memory, and a second kernel adds these up in their order: the result is the same from
 * call to call. With one part the tile finishes by itself; where little is to do, the second kernel
 * makes the sums alone, an element a thread. */
struct hone_cuda_split {
    const char *parts; /* parameter of both kernels; NULL: k is not split */
    const char *total; /* the second kernel */
    const char *count; /* function of the host: how many parts */
};
/* Is not split where a launch is no statement of a block, or a bound is not known there. */
struct hone_cuda_split hone_cuda_split_of(const struct hone_cuda_contraction *c);
/* The tile's kernel has it besides its own: "float *parts"; "" for none. */
const char *hone_cuda_split_param(const struct hone_cuda_contraction *c,
                                  const struct hone_cuda_split *s);
/* hone_cuda_contraction_finish for a part or for the whole sum. */
const char *hone_cuda_split_finish(const struct hone_cuda_contraction *c,
                                   const struct hone_cuda_split *s, const char *total);
/* The host's function and the second kernel, which stand in front of the tile's; "" for none. */
const char *hone_cuda_split_kernel(const struct hone_cuda_contraction *c,
                                   const struct hone_cuda_split *s);
/* hone_cuda_set_launch with the second kernel's launch; bk: of k for a step. */
void hone_cuda_split_launch(struct hone_c_edits *edits, const struct hone_cuda_contraction *c,
                            const struct hone_cuda_split *s, const struct hone_cuda_launch *l,
                            const char *grid, const char *block, const char *shared,
                            const char *bk);
/* A bound or limit of the kernel in parentheses unless it is a name; NULL: it changes. */
const char *hone_cuda_bracket(const struct hone_cuda_kernel *k, const struct hone_c_node *expr);

#endif
