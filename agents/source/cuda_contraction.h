/* SPDX-License-Identifier: Apache-2.0 */
/* Contractions: kernels with a thread for each element of
 *
 *     acc = init; for k acc += L(i, k) * R(k, j); */
#ifndef HONE_AGENTS_CUDA_CONTRACTION_H
#define HONE_AGENTS_CUDA_CONTRACTION_H

#include "agents/source/cuda_kernel.h"

struct hone_cuda_contraction {
    const struct hone_cuda_kernel *k;
    const struct hone_c_loop *loop;
    const struct hone_c_node *acc;                     /* declaration */
    const struct hone_c_node *left, *right;            /* factors: rows and columns */
    const struct hone_cuda_axis *row, *column, *batch; /* batch NULL: none */
    bool left_along_k, right_along_k;                  /* contiguous by k, not by row or column */
};

bool hone_cuda_read_contraction(const struct hone_cuda_kernel *k,
                                struct hone_cuda_contraction *ret);

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
/* Declares the number of the tile, and the batch's index. */
const char *hone_cuda_contraction_batch(const struct hone_cuda_contraction *c, const char *bm,
                                        const char *bn, const char *tile);
/* Blocks for all tiles; NULL: a bound is not known there. */
const char *hone_cuda_contraction_grid(const struct hone_cuda_contraction *c,
                                       const struct hone_cuda_launch *l, const char *bm,
                                       const char *bn);
/* A bound or limit of the kernel in parentheses unless it is a name; NULL: it changes. */
const char *hone_cuda_bracket(const struct hone_cuda_kernel *k, const struct hone_c_node *expr);

#endif
