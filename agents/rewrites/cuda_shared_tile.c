/* SPDX-License-Identifier: Apache-2.0 */
/* G05 with G06: a contraction by tiles in shared memory and micro-tiles in registers.
 *
 *     acc = init; for k acc += L(i, k) * R(k, j); ... store ...      one thread per (i, j)
 *
 * becomes blocks of BM x BN elements. For every BK steps of k the block brings a part of L and a
 * part of R into shared memory (zeros beyond the borders, so any sizes will do), along whichever
 * axis is contiguous; each thread adds up MICRO x MICRO elements in registers. While it does, the
 * next parts are on their way: loads into registers before, stores into the other buffer after.
 * What stood around the loop is done once per element at the end, as it was written. L and R may be
 * any expressions, of any element type. The sum's order is that of k. */
#include <string.h>

#include "agents/rewrites/coder_rules.h"
#include "agents/source/cuda_contraction.h"

static size_t sites(const struct hone_coder_input *in, struct hone_coder_site *ret, size_t max)
{
    const struct hone_cuda_kernel *all[HONE_CUDA_MAX_KERNELS];
    size_t n_all = hone_cuda_kernels(in, all, HONE_CUDA_MAX_KERNELS), n = 0;
    for (size_t i = 0; i < n_all && n < max; i++) {
        struct hone_cuda_contraction c;
        if (hone_cuda_read_contraction(all[i], &c))
            ret[n++] = hone_cuda_site(
                all[i], 0,
                "each factor of the sum is read again by every thread of a row or column");
    }
    return n;
}

static const char body_text[] =
    "constexpr int @VEC@ = 16 / sizeof(@T@), @PARTS@ = @MICRO@ / @VEC@;\n"
    "constexpr int @THREADS@ = @BM@ / @MICRO@ * (@BN@ / @MICRO@);\n"
    "constexpr int @LEFT_EACH@ = @BM@ * @BK@ / @THREADS@, @RIGHT_EACH@ = @BK@ * @BN@ / @THREADS@;\n"
    "using @part@ = vector_of<@T@, @VEC@>;\n"
    "alignas(16) __shared__ @T@ @left_tile@[2][@BK@][@BM@ + @VEC@];\n"
    "alignas(16) __shared__ @T@ @right_tile@[2][@BK@][@BN@ + @VEC@];\n"
    "const int64_t @n_columns@ = (@column_bound@ + @BN@ - 1) / @BN@;\n"
    "@batch@" HONE_CUDA_TILE_ORDER
    "const int @thread_row@ = threadIdx.x / (@BN@ / @MICRO@) * @VEC@;\n"
    "const int @thread_column@ = threadIdx.x % (@BN@ / @MICRO@) * @VEC@;\n"
    "@T@ @left_next@[@LEFT_EACH@], @right_next@[@RIGHT_EACH@], @total@[@MICRO@][@MICRO@] = {};\n"
    "int @now@ = 1;\n"
    "/* The first turn only fetches. */\n"
    "for (int64_t @k_at@ = @k_lower@ - @BK@; @k_at@ < @k_upper@; @k_at@ += @BK@, @now@ ^= 1) {\n"
    "const bool @has_next@ = @k_at@ + @BK@ < @k_upper@;\n"
    "if (@has_next@) {\n"
    "#pragma unroll\n"
    "for (int @u@ = 0; @u@ < @LEFT_EACH@; @u@++) {\n"
    "const int @e@ = threadIdx.x + @u@ * @THREADS@;\n"
    "const @row_type@ @row@ = @row_at@ + @left_row@;\n"
    "const @k_type@ @k@ = @k_at@ + @BK@ + @left_k@;\n"
    "@left_next@[@u@] = @row@ < @row_bound@ && @k@ < @k_upper@ ? (@T@)(@left@) : (@T@)0;\n"
    "}\n"
    "#pragma unroll\n"
    "for (int @u@ = 0; @u@ < @RIGHT_EACH@; @u@++) {\n"
    "const int @e@ = threadIdx.x + @u@ * @THREADS@;\n"
    "const @column_type@ @column@ = @column_at@ + @right_column@;\n"
    "const @k_type@ @k@ = @k_at@ + @BK@ + @right_k@;\n"
    "@right_next@[@u@] = @column@ < @column_bound@ && @k@ < @k_upper@ ? (@T@)(@right@) : (@T@)0;\n"
    "}\n"
    "}\n"
    "if (@k_at@ >= @k_lower@) {\n"
    "#pragma unroll\n"
    "for (int @step@ = 0; @step@ < @BK@; @step@++) {\n"
    "@part@ @left_part@[@PARTS@], @right_part@[@PARTS@];\n"
    "#pragma unroll\n"
    "for (int @p@ = 0; @p@ < @PARTS@; @p@++) {\n"
    "@left_part@[@p@] = *(const @part@ *)&@left_tile@[@now@][@step@][@p@ * (@BM@ / @PARTS@) + "
    "@thread_row@];\n"
    "@right_part@[@p@] = *(const @part@ *)&@right_tile@[@now@][@step@][@p@ * (@BN@ / @PARTS@) + "
    "@thread_column@];\n"
    "}\n"
    "#pragma unroll\n"
    "for (int @r@ = 0; @r@ < @MICRO@; @r@++)\n"
    "#pragma unroll\n"
    "for (int @c@ = 0; @c@ < @MICRO@; @c@++)\n"
    "@total@[@r@][@c@] += @left_part@[@r@ / @VEC@].v[@r@ % @VEC@] * @right_part@[@c@ / "
    "@VEC@].v[@c@ % @VEC@];\n"
    "}\n"
    "}\n"
    "if (@has_next@) {\n"
    "#pragma unroll\n"
    "for (int @u@ = 0; @u@ < @LEFT_EACH@; @u@++) {\n"
    "const int @e@ = threadIdx.x + @u@ * @THREADS@;\n"
    "@left_tile@[@now@ ^ 1][@left_k@][@left_row@] = @left_next@[@u@];\n"
    "}\n"
    "#pragma unroll\n"
    "for (int @u@ = 0; @u@ < @RIGHT_EACH@; @u@++) {\n"
    "const int @e@ = threadIdx.x + @u@ * @THREADS@;\n"
    "@right_tile@[@now@ ^ 1][@right_k@][@right_column@] = @right_next@[@u@];\n"
    "}\n"
    "}\n"
    "__syncthreads();\n"
    "}\n"
    "#pragma unroll\n"
    "for (int @r@ = 0; @r@ < @MICRO@; @r@++)\n"
    "#pragma unroll\n"
    "for (int @c@ = 0; @c@ < @MICRO@; @c@++) {\n"
    "const @row_type@ @row@ = @row_at@ + @r@ / @VEC@ * (@BM@ / @PARTS@) + @thread_row@ + @r@ % "
    "@VEC@;\n"
    "const @column_type@ @column@ = @column_at@ + @c@ / @VEC@ * (@BN@ / @PARTS@) + "
    "@thread_column@ + @c@ % @VEC@;\n"
    "if (@row@ < @row_bound@ && @column@ < @column_bound@) {\n"
    "@finish@"
    "}\n"
    "}\n";

static const char *make_body(const struct hone_cuda_contraction *c, const char *bm, const char *bn,
                             const char *bk, const char *micro)
{
    const struct hone_coder_input *in = c->k->in;
    const char *e = hone_fresh_name(in, "e"), *tile = hone_fresh_name(in, "tile");
    const char *total = hone_fresh_name(in, "total"), *r = hone_fresh_name(in, "r"),
               *col = hone_fresh_name(in, "c");
    const char *upper = hone_cuda_bracket(c->k, c->loop->upper);
    if (upper && c->loop->is_inclusive)
        upper = hone_pool_printf(in->pool, "(%s + 1)", upper);
    const char *row_bound = hone_cuda_bracket(c->k, c->row->bound),
               *column_bound = hone_cuda_bracket(c->k, c->column->bound),
               *lower = hone_cuda_bracket(c->k, c->loop->lower);
    struct hone_cuda_sub subs[HONE_CUDA_MAX_SUBS];
    size_t n_subs = hone_cuda_contraction_subs(c, subs);
    const char *left = hone_cuda_inline(c->k, c->left, subs, n_subs),
               *right = hone_cuda_inline(c->k, c->right, subs, n_subs);
    if (!upper || !lower || !row_bound || !column_bound || !left || !right)
        return NULL;
#define INDEX(fmt, size) hone_pool_printf(in->pool, "(%s " fmt " %s)", e, size)
    const struct hone_cuda_word words[] = {
        {"T", c->acc->type},
        {"BM", bm},
        {"BN", bn},
        {"BK", bk},
        {"MICRO", micro},
        {"e", e},
        {"r", r},
        {"c", col},
        {"tile", tile},
        {"total", total},
        {"batch", hone_cuda_contraction_batch(c, bm, bn, tile)},
        {"row", c->row->var->name},
        {"row_type", hone_cuda_type(in, c->row->var)},
        {"row_bound", row_bound},
        {"column", c->column->var->name},
        {"column_type", hone_cuda_type(in, c->column->var)},
        {"column_bound", column_bound},
        {"k", c->loop->var->name},
        {"k_type", hone_cuda_type(in, c->loop->var)},
        {"k_lower", lower},
        {"k_upper", upper},
        {"left", left},
        {"right", right},
        {"left_k", c->left_along_k ? INDEX("%%", bk) : INDEX("/", bm)},
        {"left_row", c->left_along_k ? INDEX("/", bk) : INDEX("%%", bm)},
        {"right_k", c->right_along_k ? INDEX("%%", bk) : INDEX("/", bn)},
        {"right_column", c->right_along_k ? INDEX("/", bk) : INDEX("%%", bn)},
        {"finish",
         hone_cuda_contraction_finish(c, hone_pool_printf(in->pool, "%s[%s][%s]", total, r, col))},
        {NULL, NULL},
    };
#undef INDEX
    return hone_cuda_fill(in, body_text, words);
}

static char *apply(const struct hone_coder_input *in, const struct hone_coder_site *site,
                   struct hone_err *err)
{
    const struct hone_cuda_kernel *k = hone_cuda_kernel_at(in, site->node);
    struct hone_cuda_contraction c;
    const char *bm, *bn, *bk, *micro;
    if (!k || !hone_cuda_read_contraction(k, &c)) {
        hone_fail(err, HONE_E_ARG, "the region is no contraction");
        return NULL;
    }
    bool is_wide = strcmp(c.acc->type, "double") == 0; /* 48 KiB of static shared memory */
    const char *pragmas = hone_cuda_tunable(in, "BM", "128, 64", &bm);
    pragmas =
        hone_pool_printf(in->pool, "%s%s", pragmas, hone_cuda_tunable(in, "BN", "128, 64", &bn));
    pragmas = hone_pool_printf(in->pool, "%s%s", pragmas,
                               hone_cuda_tunable(in, "BK", is_wide ? "8, 4" : "16, 8", &bk));
    pragmas =
        hone_pool_printf(in->pool, "%s%s", pragmas, hone_cuda_tunable(in, "MICRO", "8, 4", &micro));
    const char *resident;
    pragmas = hone_pool_printf(in->pool, "%s%s", pragmas,
                               hone_cuda_tunable(in, "RESIDENT", "2, 1", &resident));
    const char *body = make_body(&c, bm, bn, bk, micro);
    const char *threads = hone_pool_printf(in->pool, "%s / %s * (%s / %s)", bm, micro, bn, micro);
    struct hone_c_edits edits;
    hone_c_edits_init(&edits, in->tree);
    for (size_t i = 0; body && i < k->n_launches; i++) {
        const char *grid = hone_cuda_contraction_grid(&c, &k->launches[i], bm, bn);
        if (!grid)
            body = NULL;
        else
            hone_cuda_set_launch(&edits, &k->launches[i], grid, threads, "0");
    }
    if (!body) {
        hone_fail(err, HONE_E_ARG, "a bound or a factor depends on what is not known there");
        return NULL;
    }
    const char *bounds =
        hone_pool_printf(in->pool, "%s, %s > 4 ? %s : 1", threads, micro, resident);
    hone_cuda_put_helpers(&edits, hone_cuda_vector_helper(in));
    hone_cuda_replace_kernel(&edits, k, pragmas, hone_cuda_header(k, bounds, ""), body);
    hone_cuda_drop_unused(&edits, k);
    return hone_cuda_finish(&edits);
}

const struct hone_rewrite hone_rewrite_cuda_shared_tile = {
    .name = "cuda_shared_tile",
    .target = "cuda",
    .strategy = "G05",
    .words = "shared-memory tiles and register micro-tiles",
    .sites = sites,
    .apply = apply,
};
