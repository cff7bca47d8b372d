/* SPDX-License-Identifier: Apache-2.0 */
/* G31 with G09: a contraction of 16-bit factors on tensor cores.
 *
 * As cuda_shared_tile, with blocks of eight warps that multiply 16 x 16 x 16 parts by wmma and add
 * up in float. Parts of L and R come into a ring of STAGES buffers in shared memory by asynchronous
 * 16-byte copies where memory is aligned and inside, element by element with zeros where it is not:
 * any sizes will do. The factors must be plain loads (converted to float or not) that are
 * contiguous along k or along their own axis. */
#include <string.h>

#include "agents/rewrites/coder_rules.h"
#include "agents/source/cuda_contraction.h"

struct factor {
    const struct hone_c_node *load; /* the subscript */
    const char *type;
    bool is_along_k;
};

struct tensor {
    struct hone_cuda_contraction c;
    struct factor left, right;
};

static bool read_factor(const struct hone_cuda_contraction *c, const struct hone_c_node *expr,
                        const struct hone_c_node *axis, struct factor *ret)
{
    struct hone_c_access a[2];
    const struct hone_c_node *n = hone_c_strip(expr);
    if (n->kind == HONE_C_CALL && hone_c_n_children(n) == 2 && strstr(n->name, "2float"))
        n = hone_c_strip(n->last);
    if (n->kind == HONE_C_CALL && hone_c_n_children(n) == 1) /* a copy of the element */
        n = hone_c_strip(n->first);
    if (n->kind != HONE_C_SUBSCRIPT || hone_c_accesses(c->k->function, n, a, 2) != 1 ||
        !a[0].root || a[0].root->kind != HONE_C_PARAM)
        return false;
    *ret = (struct factor){.load = n, .type = hone_element_type(c->k->in, a[0].root)};
    bool is_along_k = hone_c_poly_stride(&a[0].index, c->loop->var) == HONE_C_STRIDE_UNIT;
    bool is_along_axis = hone_c_poly_stride(&a[0].index, axis) == HONE_C_STRIDE_UNIT;
    ret->is_along_k = is_along_k;
    return ret->type && is_along_k != is_along_axis &&
           (strcmp(ret->type, "__half") == 0 || strcmp(ret->type, "__nv_bfloat16") == 0);
}

static bool read_tensor(const struct hone_cuda_kernel *k, struct tensor *t)
{
    return hone_cuda_read_contraction(k, &t->c) && strcmp(t->c.acc->type, "float") == 0 &&
           read_factor(&t->c, t->c.left, t->c.row->var, &t->left) &&
           read_factor(&t->c, t->c.right, t->c.column->var, &t->right) &&
           strcmp(t->left.type, t->right.type) == 0;
}

static size_t sites(const struct hone_coder_input *in, struct hone_coder_site *ret, size_t max)
{
    const struct hone_cuda_kernel *all[HONE_CUDA_MAX_KERNELS];
    size_t n_all = hone_cuda_kernels(in, all, HONE_CUDA_MAX_KERNELS), n = 0;
    for (size_t i = 0; i < n_all && n < max; i++) {
        struct tensor t;
        if (read_tensor(all[i], &t))
            ret[n++] = hone_cuda_site(all[i], 0, "products of 16-bit numbers, summed in float");
    }
    return n;
}

static const char helper_text[] =
    "#include <cuda_pipeline.h>\n"
    "#include <mma.h>\n\n"
    "/* Eight 16-bit elements to shared memory: n of them, zeros behind. */\n"
    "template <typename T> __device__ void fetch_eight(T *to, const T *from, int64_t n)\n"
    "{\n"
    "    if (n >= 8 && (uintptr_t)from % 16 == 0) {\n"
    "        __pipeline_memcpy_async(to, from, 16);\n"
    "    } else {\n"
    "        for (int i = 0; i < 8; i++)\n"
    "            to[i] = i < n ? from[i] : (T)0.0f;\n"
    "    }\n"
    "}\n";

static const char body_text[] =
    "using namespace nvcuda;\n"
    "constexpr int @FM@ = @BM@ / 32, @FN@ = @BN@ / 64;\n"
    "constexpr int @LEFT_LINE@ = @left_line@, @RIGHT_LINE@ = @right_line@;\n"
    "constexpr int @LEFT_PITCH@ = @LEFT_LINE@ + 8, @RIGHT_PITCH@ = @RIGHT_LINE@ + 8;\n"
    "constexpr int @LEFT_SIZE@ = @BM@ * @BK@ / @LEFT_LINE@ * @LEFT_PITCH@;\n"
    "constexpr int @RIGHT_SIZE@ = @BN@ * @BK@ / @RIGHT_LINE@ * @RIGHT_PITCH@;\n"
    "extern __shared__ @T@ @tiles@[];\n"
    "@T@ *const @left_tiles@ = @tiles@, *const @right_tiles@ = @tiles@ + @STAGES@ * @LEFT_SIZE@;\n"
    "const int64_t @n_columns@ = (@column_bound@ + @BN@ - 1) / @BN@;\n"
    "@batch@" HONE_CUDA_TILE_ORDER "const int @warp@ = threadIdx.x / 32;\n"
    "const int @warp_row@ = @warp@ / 4 * (@BM@ / 2), @warp_column@ = @warp@ % 4 * (@BN@ / 4);\n"
    "const int @n_steps@ = (int)((@k_upper@ - @k_lower@ + @BK@ - 1) / @BK@);\n"
    "auto @fetch@ = [&](int @at_step@) {\n"
    "const int64_t @k_at@ = @k_lower@ + (int64_t)@at_step@ * @BK@;\n"
    "@T@ *const @left_to@ = @left_tiles@ + @at_step@ % @STAGES@ * @LEFT_SIZE@;\n"
    "@T@ *const @right_to@ = @right_tiles@ + @at_step@ % @STAGES@ * @RIGHT_SIZE@;\n"
    "for (int @u@ = threadIdx.x; @u@ < @BM@ * @BK@ / 8; @u@ += 256) {\n"
    "const int @line@ = @u@ / (@LEFT_LINE@ / 8), @part@ = @u@ % (@LEFT_LINE@ / 8) * 8;\n"
    "const @row_type@ @row@ = @row_at@ + @left_row@;\n"
    "const @k_type@ @k@ = @k_at@ + @left_k@;\n"
    "fetch_eight(@left_to@ + @line@ * @LEFT_PITCH@ + @part@, &@left@, @left_n@);\n"
    "}\n"
    "for (int @u@ = threadIdx.x; @u@ < @BN@ * @BK@ / 8; @u@ += 256) {\n"
    "const int @line@ = @u@ / (@RIGHT_LINE@ / 8), @part@ = @u@ % (@RIGHT_LINE@ / 8) * 8;\n"
    "const @column_type@ @column@ = @column_at@ + @right_column@;\n"
    "const @k_type@ @k@ = @k_at@ + @right_k@;\n"
    "fetch_eight(@right_to@ + @line@ * @RIGHT_PITCH@ + @part@, &@right@, @right_n@);\n"
    "}\n"
    "};\n"
    "wmma::fragment<wmma::accumulator, 16, 16, 16, float> @total@[@FM@][@FN@];\n"
    "for (int @r@ = 0; @r@ < @FM@; @r@++)\n"
    "for (int @c@ = 0; @c@ < @FN@; @c@++)\n"
    "wmma::fill_fragment(@total@[@r@][@c@], 0.0f);\n"
    "for (int @s@ = 0; @s@ < @STAGES@ - 1; @s@++) {\n"
    "if (@s@ < @n_steps@)\n"
    "@fetch@(@s@);\n"
    "__pipeline_commit();\n"
    "}\n"
    "for (int @step@ = 0; @step@ < @n_steps@; @step@++) {\n"
    "__pipeline_wait_prior(@STAGES@ - 2);\n"
    "__syncthreads();\n"
    "if (@step@ + @STAGES@ - 1 < @n_steps@)\n"
    "@fetch@(@step@ + @STAGES@ - 1);\n"
    "__pipeline_commit();\n"
    "const @T@ *const @left_now@ = @left_tiles@ + @step@ % @STAGES@ * @LEFT_SIZE@;\n"
    "const @T@ *const @right_now@ = @right_tiles@ + @step@ % @STAGES@ * @RIGHT_SIZE@;\n"
    "#pragma unroll\n"
    "for (int @kk@ = 0; @kk@ < @BK@; @kk@ += 16) {\n"
    "wmma::fragment<wmma::matrix_a, 16, 16, 16, @T@, wmma::@left_major@> @left_part@[@FM@];\n"
    "wmma::fragment<wmma::matrix_b, 16, 16, 16, @T@, wmma::@right_major@> @right_part@[@FN@];\n"
    "#pragma unroll\n"
    "for (int @r@ = 0; @r@ < @FM@; @r@++)\n"
    "wmma::load_matrix_sync(@left_part@[@r@], @left_now@ + @left_place@, @LEFT_PITCH@);\n"
    "#pragma unroll\n"
    "for (int @c@ = 0; @c@ < @FN@; @c@++)\n"
    "wmma::load_matrix_sync(@right_part@[@c@], @right_now@ + @right_place@, @RIGHT_PITCH@);\n"
    "#pragma unroll\n"
    "for (int @r@ = 0; @r@ < @FM@; @r@++)\n"
    "#pragma unroll\n"
    "for (int @c@ = 0; @c@ < @FN@; @c@++)\n"
    "wmma::mma_sync(@total@[@r@][@c@], @left_part@[@r@], @right_part@[@c@], @total@[@r@][@c@]);\n"
    "}\n"
    "}\n"
    "__pipeline_wait_prior(0);\n"
    "__syncthreads();\n"
    "float *const @result@ = (float *)@tiles@ + @warp@ * 256;\n"
    "#pragma unroll\n"
    "for (int @r@ = 0; @r@ < @FM@; @r@++)\n"
    "#pragma unroll\n"
    "for (int @c@ = 0; @c@ < @FN@; @c@++) {\n"
    "wmma::store_matrix_sync(@result@, @total@[@r@][@c@], 16, wmma::mem_row_major);\n"
    "__syncwarp();\n"
    "for (int @e@ = threadIdx.x % 32; @e@ < 256; @e@ += 32) {\n"
    "const @row_type@ @row@ = @row_at@ + @warp_row@ + @r@ * 16 + @e@ / 16;\n"
    "const @column_type@ @column@ = @column_at@ + @warp_column@ + @c@ * 16 + @e@ % 16;\n"
    "if (@row@ < @row_bound@ && @column@ < @column_bound@) {\n"
    "@finish@"
    "}\n"
    "}\n"
    "__syncwarp();\n"
    "}\n";

/* How many elements from here on are inside, 0 when the line is not. */
static const char *inside(struct hone_pool *pool, const char *at, const char *end, const char *line,
                          const char *line_end)
{
    return hone_pool_printf(pool, "%s < %s ? %s - %s : 0", line, line_end, end, at);
}

static const char *make_body(const struct tensor *t, const char *bm, const char *bn, const char *bk,
                             const char *stages)
{
    const struct hone_cuda_contraction *c = &t->c;
    const struct hone_coder_input *in = c->k->in;
    struct hone_pool *pool = in->pool;
    const char *row = c->row->var->name, *column = c->column->var->name, *k = c->loop->var->name;
    const char *r = hone_fresh_name(in, "r"), *col = hone_fresh_name(in, "c"),
               *kk = hone_fresh_name(in, "kk"), *e = hone_fresh_name(in, "e"),
               *tile = hone_fresh_name(in, "tile"), *line = hone_fresh_name(in, "line"),
               *part = hone_fresh_name(in, "part"), *result = hone_fresh_name(in, "result"),
               *warp_row = hone_fresh_name(in, "warp_row"),
               *warp_column = hone_fresh_name(in, "warp_column");
    const char *upper = hone_cuda_bracket(c->k, c->loop->upper),
               *lower = hone_cuda_bracket(c->k, c->loop->lower),
               *rows = hone_cuda_bracket(c->k, c->row->bound),
               *columns = hone_cuda_bracket(c->k, c->column->bound);
    struct hone_cuda_sub subs[HONE_CUDA_MAX_SUBS];
    size_t n_subs = hone_cuda_contraction_subs(c, subs);
    const char *left = hone_cuda_inline(c->k, t->left.load, subs, n_subs),
               *right = hone_cuda_inline(c->k, t->right.load, subs, n_subs);
    if (!upper || !lower || !rows || !columns || !left || !right)
        return NULL;
    if (c->loop->is_inclusive)
        upper = hone_pool_printf(pool, "(%s + 1)", upper);
    bool lk = t->left.is_along_k, rk = t->right.is_along_k;
    const char *left_at = hone_pool_printf(pool, "%s + %s * 16", warp_row, r);
    const char *right_at = hone_pool_printf(pool, "%s + %s * 16", warp_column, col);
    const char *left_place = lk ? hone_pool_printf(pool, "(%s) * LEFT_PITCH + %s", left_at, kk)
                                : hone_pool_printf(pool, "%s * LEFT_PITCH + %s", kk, left_at);
    const char *right_place = rk ? hone_pool_printf(pool, "(%s) * RIGHT_PITCH + %s", right_at, kk)
                                 : hone_pool_printf(pool, "%s * RIGHT_PITCH + %s", kk, right_at);
    const struct hone_cuda_word words[] = {
        {"T", t->left.type},
        {"BM", bm},
        {"BN", bn},
        {"BK", bk},
        {"STAGES", stages},
        {"r", r},
        {"c", col},
        {"kk", kk},
        {"e", e},
        {"tile", tile},
        {"line", line},
        {"part", part},
        {"result", result},
        {"warp_row", warp_row},
        {"warp_column", warp_column},
        {"LEFT_PITCH", "LEFT_PITCH"},
        {"RIGHT_PITCH", "RIGHT_PITCH"},
        {"left_line", lk ? bk : bm},
        {"right_line", rk ? bk : bn},
        {"batch", hone_cuda_contraction_batch(c, bm, bn, tile)},
        {"row", row},
        {"row_type", hone_cuda_type(in, c->row->var)},
        {"row_bound", rows},
        {"column", column},
        {"column_type", hone_cuda_type(in, c->column->var)},
        {"column_bound", columns},
        {"k", k},
        {"k_type", hone_cuda_type(in, c->loop->var)},
        {"k_lower", lower},
        {"k_upper", upper},
        {"left", left},
        {"right", right},
        {"left_row", lk ? line : part},
        {"left_k", lk ? part : line},
        {"left_n", lk ? inside(pool, k, upper, row, rows) : inside(pool, row, rows, k, upper)},
        {"right_column", rk ? line : part},
        {"right_k", rk ? part : line},
        {"right_n",
         rk ? inside(pool, k, upper, column, columns) : inside(pool, column, columns, k, upper)},
        {"left_major", lk ? "row_major" : "col_major"},
        {"right_major", rk ? "col_major" : "row_major"},
        {"left_place", left_place},
        {"right_place", right_place},
        {"finish", hone_cuda_contraction_finish(c, hone_pool_printf(pool, "%s[%s]", result, e))},
        {NULL, NULL},
    };
    return hone_cuda_fill(in, body_text, words);
}

/* Elements of a stage: lines are eight elements longer than they need to be. */
static const char *bytes_text(const struct tensor *t, const char *bm, const char *bn,
                              const char *bk, const char *stages)
{
    struct hone_pool *pool = t->c.k->in->pool;
    const char *left = t->left.is_along_k ? hone_pool_printf(pool, "%s * (%s + 8)", bm, bk)
                                          : hone_pool_printf(pool, "%s * (%s + 8)", bk, bm);
    const char *right = t->right.is_along_k ? hone_pool_printf(pool, "%s * (%s + 8)", bn, bk)
                                            : hone_pool_printf(pool, "%s * (%s + 8)", bk, bn);
    return hone_pool_printf(pool, "%s * (%s + %s) * 2", stages, left, right);
}

static char *apply(const struct hone_coder_input *in, const struct hone_coder_site *site,
                   struct hone_err *err)
{
    const struct hone_cuda_kernel *k = hone_cuda_kernel_at(in, site->node);
    struct tensor t;
    struct hone_c_edits edits;
    const char *bm, *bn, *bk, *stages, *body = NULL;
    if (!k || !read_tensor(k, &t)) {
        hone_fail(err, HONE_E_ARG, "the region is no contraction of 16-bit factors");
        return NULL;
    }
    hone_c_edits_init(&edits, in->tree);
    const char *pragmas = hone_cuda_tunable(in, "BM", "128, 256, 64", &bm);
    pragmas = hone_pool_printf(in->pool, "%s%s", pragmas,
                               hone_cuda_tunable(in, "BN", "128, 256, 64", &bn));
    pragmas =
        hone_pool_printf(in->pool, "%s%s", pragmas, hone_cuda_tunable(in, "BK", "32, 64", &bk));
    stages = hone_fresh_name(in, "STAGES");
    pragmas =
        hone_pool_printf(in->pool,
                         "%s#pragma hone tune(%s: 3, 4, 2) where(%s * %s <= 32768 && %s * %s * "
                         "(%s + %s) <= 90000)\n",
                         pragmas, stages, bm, bn, stages, bk, bm, bn);
    const char *bytes =
        hone_fresh_name(in, hone_pool_printf(in->pool, "%s_bytes", k->function->name));
    pragmas = hone_pool_printf(in->pool, "%sconstexpr int %s = %s;\n", pragmas, bytes,
                               bytes_text(&t, bm, bn, bk, stages));
    body = make_body(&t, bm, bn, bk, stages);
    for (size_t i = 0; body && i < k->n_launches; i++) {
        const struct hone_cuda_launch *l = &k->launches[i];
        const char *grid = hone_cuda_contraction_grid(&t.c, l, bm, bn);
        uint32_t at = l->launcher->body->begin + 1;
        if (!grid)
            body = NULL;
        else
            hone_cuda_set_launch(&edits, l, grid, "256", bytes);
        if (i == 0)
            hone_c_replace(&edits, at, at,
                           hone_pool_printf(in->pool,
                                            "\n    cudaFuncSetAttribute(%s, "
                                            "cudaFuncAttributeMaxDynamicSharedMemorySize, %s);",
                                            k->function->name, bytes));
    }
    if (!body) {
        hone_fail(err, HONE_E_ARG, "a bound or a factor depends on what is not known there");
        return NULL;
    }
    hone_cuda_put_helpers(&edits, helper_text);
    hone_cuda_replace_kernel(&edits, k, pragmas, hone_cuda_header(k, "256", ""), body);
    hone_cuda_drop_unused(&edits, k);
    return hone_cuda_finish(&edits);
}

const struct hone_rewrite hone_rewrite_cuda_tensor_tile = {
    .name = "cuda_tensor_tile",
    .target = "cuda",
    .strategy = "G31",
    .words = "tensor cores with asynchronous tiles",
    .sites = sites,
    .apply = apply,
};
