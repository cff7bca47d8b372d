/* SPDX-License-Identifier: Apache-2.0 */
/* G05 with G06: a contraction by tiles in shared memory and micro-tiles in registers.
 *
 *     acc = init; for k acc += L(i, k) * R(k, j); ... store ...      one thread per (i, j)
 *
 * becomes blocks of BM x BN elements. For every BK steps of k the block brings a part of L and a
 * part of R into shared memory (zeros beyond the borders, so any sizes will do), along whichever
 * axis is contiguous; each thread adds up MICRO x MICRO elements in registers. What stood around
 * the loop is done once per element at the end, as it was written. The sum's order is that of k.
 * The products of a batch are blocks of one grid.x, which has room for 2^31.
 *
 * variant 0: while parts are multiplied the next ones are on their way, by loads into registers
 * before and stores into the other buffer after. L and R may be any expressions, of any type.
 * variant 1 (G09): the next parts come by asynchronous copies, element by element, in STAGES
 * buffers. No register holds them. L and R must be plain loads of the sum's own type. */
#include <string.h>

#include "agents/rewrites/coder_rules.h"
#include "agents/source/cuda_contraction.h"

enum { BY_REGISTERS, BY_COPIES };

struct copy { /* of a factor that is one element of the sum's type */
    const struct hone_c_node *load;
    const char *pitch; /* from line to line of its tile */
};

static bool read_copy(const struct hone_cuda_contraction *c, const struct hone_c_node *factor,
                      const struct hone_c_node *axis, bool is_along_k, struct copy *ret)
{
    struct hone_c_access a[2];
    const struct hone_c_node *n = hone_c_strip(factor);
    if (n->kind != HONE_C_SUBSCRIPT || hone_c_accesses(c->k->function, n, a, 2) != 1 ||
        !a[0].root || a[0].root->kind != HONE_C_PARAM)
        return false;
    const char *type = hone_element_type(c->k->in, a[0].root);
    *ret = (struct copy){
        n, hone_cuda_contraction_pitch(c, &a[0].index, is_along_k ? axis : c->loop->var)};
    return ret->pitch && type && strcmp(type, c->acc->type) == 0 && hone_cuda_type_bytes(type) >= 4;
}

static bool read_copies(const struct hone_cuda_contraction *c, struct copy ret[2])
{
    return read_copy(c, c->left, c->row->var, c->left_along_k, &ret[0]) &&
           read_copy(c, c->right, c->column->var, c->right_along_k, &ret[1]);
}

static size_t sites(const struct hone_coder_input *in, struct hone_coder_site *ret, size_t max)
{
    const struct hone_cuda_kernel *all[HONE_CUDA_MAX_KERNELS];
    size_t n_all = hone_cuda_kernels(in, all, HONE_CUDA_MAX_KERNELS), n = 0;
    for (size_t i = 0; i < n_all && n < max; i++) {
        struct hone_cuda_contraction c;
        struct copy copies[2];
        if (!hone_cuda_read_contraction(all[i], &c))
            continue;
        ret[n++] = hone_cuda_site(
            all[i], BY_REGISTERS,
            "each factor of the sum is read again by every thread of a row or column");
        if (n < max && read_copies(&c, copies))
            ret[n++] = hone_cuda_site(all[i], BY_COPIES,
                                      "both factors are plain loads, which copies can bring");
    }
    return n;
}

/* clang-format off */
static const char head_text[] =
    "constexpr int @VEC@ = 16 / sizeof(@T@), @PARTS@ = @MICRO@ / @VEC@;\n"
    "constexpr int @THREADS@ = @BM@ / @MICRO@ * (@BN@ / @MICRO@);\n"
    "constexpr int @LEFT_EACH@ = @BM@ * @BK@ / @THREADS@, @RIGHT_EACH@ = @BK@ * @BN@ / @THREADS@;\n"
    "using @part@ = vector_of<@T@, @VEC@>;\n"
    "alignas(16) __shared__ @T@ @left_tile@[@STAGES@][@BK@][@BM@ + @VEC@];\n"
    "alignas(16) __shared__ @T@ @right_tile@[@STAGES@][@BK@][@BN@ + @VEC@];\n"
    "const int64_t @n_columns@ = (@column_bound@ + @BN@ - 1) / @BN@;\n"
    "@batch@" HONE_CUDA_TILE_ORDER
    "/* A warp has 4 x 8 micro-tiles. Of four neighbours each two read the same part of a tile. */\n"
    "constexpr int @ACROSS@ = @BN@ / @MICRO@ / 8;\n"
    "const int @warp@ = threadIdx.x / 32, @lane@ = threadIdx.x % 32;\n"
    "const int @thread_row@ = (@warp@ / @ACROSS@ * 4 + (@lane@ & 1) + (@lane@ >> 2 & 2)) * "
    "@VEC@;\n"
    "const int @thread_column@ = (@warp@ % @ACROSS@ * 8 + (@lane@ >> 1 & 3) + (@lane@ >> 2 & 4)) * "
    "@VEC@;\n"
    "@T@ @total@[@MICRO@][@MICRO@] = {};\n";

#define MULTIPLY \
    "#pragma unroll\n" \
    "for (int @step@ = 0; @step@ < @BK@; @step@++) {\n" \
    "@part@ @left_part@[@PARTS@], @right_part@[@PARTS@];\n" \
    "#pragma unroll\n" \
    "for (int @p@ = 0; @p@ < @PARTS@; @p@++) {\n" \
    "@left_part@[@p@] = *(const @part@ *)&@left_tile@[@now@][@step@][@p@ * (@BM@ / @PARTS@) + " \
    "@thread_row@];\n" \
    "@right_part@[@p@] = *(const @part@ *)&@right_tile@[@now@][@step@][@p@ * (@BN@ / @PARTS@) + " \
    "@thread_column@];\n" \
    "}\n" \
    "#pragma unroll\n" \
    "for (int @r@ = 0; @r@ < @MICRO@; @r@++)\n" \
    "#pragma unroll\n" \
    "for (int @c@ = 0; @c@ < @MICRO@; @c@++)\n" \
    "@total@[@r@][@c@] += @left_part@[@r@ / @VEC@].v[@r@ % @VEC@] * @right_part@[@c@ / " \
    "@VEC@].v[@c@ % @VEC@];\n" \
    "}\n"

/* What stood around the loop, for each element */
static const char finish_text[] =
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

static const char registers_text[] =
    "@T@ @left_next@[@LEFT_EACH@], @right_next@[@RIGHT_EACH@];\n"
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
    MULTIPLY
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
    "}\n";

/* Lines of a tile lie along what is contiguous. A thread keeps its place in a line, and goes down the
 * lines by hops: a pointer and two strides say where each element is. Parts that lie inside ask
 * nothing; elsewhere zeros stand for what is outside. */
static const char copies_text[] =
    "constexpr int @LEFT_HOP@ = @THREADS@ / @left_line@, @RIGHT_HOP@ = @THREADS@ / @right_line@;\n"
    "const int @left_at@ = threadIdx.x % @left_line@, @left_down@ = threadIdx.x / @left_line@;\n"
    "const int @right_at@ = threadIdx.x % @right_line@, @right_down@ = threadIdx.x / @right_line@;\n"
    "const int @rows@ = @row_bound@ - @row_at@ < @BM@ ? (int)(@row_bound@ - @row_at@) : @BM@;\n"
    "const int @columns@ = @column_bound@ - @column_at@ < @BN@ ? (int)(@column_bound@ - "
    "@column_at@) : @BN@;\n"
    "const int64_t @left_pitch@ = @left_pitch_of@, @right_pitch@ = @right_pitch_of@;\n"
    "const @T@ *@left_from@, *@right_from@;\n"
    "{\n"
    "const @row_type@ @row@ = @row_at@ + @left_first_row@;\n"
    "const @k_type@ @k@ = @k_lower@ + @left_first_k@;\n"
    "@left_from@ = &@left@;\n"
    "}\n"
    "{\n"
    "const @column_type@ @column@ = @column_at@ + @right_first_column@;\n"
    "const @k_type@ @k@ = @k_lower@ + @right_first_k@;\n"
    "@right_from@ = &@right@;\n"
    "}\n"
    "const int @n_steps@ = (int)((@k_upper@ - @k_lower@ + @BK@ - 1) / @BK@);\n"
    "auto @fetch@ = [&](int @at_step@) {\n"
    "const int64_t @k_left@ = @k_upper@ - @k_lower@ - (int64_t)@at_step@ * @BK@;\n"
    "const int @to@ = @at_step@ % @STAGES@, @n_k@ = @k_left@ < @BK@ ? (int)@k_left@ : @BK@;\n"
    "if (@rows@ == @BM@ && @columns@ == @BN@ && @n_k@ == @BK@) {\n"
    "const @T@ *@from@ = @left_from@;\n"
    "#pragma unroll\n"
    "for (int @u@ = 0; @u@ < @LEFT_EACH@; @u@++, @from@ += @LEFT_HOP@ * @left_pitch@) {\n"
    "const int @down@ = @left_down@ + @u@ * @LEFT_HOP@;\n"
    "__pipeline_memcpy_async(&@left_tile@[@to@]@left_place@, @from@, sizeof(@T@));\n"
    "}\n"
    "@from@ = @right_from@;\n"
    "#pragma unroll\n"
    "for (int @u@ = 0; @u@ < @RIGHT_EACH@; @u@++, @from@ += @RIGHT_HOP@ * @right_pitch@) {\n"
    "const int @down@ = @right_down@ + @u@ * @RIGHT_HOP@;\n"
    "__pipeline_memcpy_async(&@right_tile@[@to@]@right_place@, @from@, sizeof(@T@));\n"
    "}\n"
    "} else {\n"
    "const @T@ *@from@ = @left_from@;\n"
    "#pragma unroll\n"
    "for (int @u@ = 0; @u@ < @LEFT_EACH@; @u@++, @from@ += @LEFT_HOP@ * @left_pitch@) {\n"
    "const int @down@ = @left_down@ + @u@ * @LEFT_HOP@;\n"
    "if (@left_is_in@)\n"
    "__pipeline_memcpy_async(&@left_tile@[@to@]@left_place@, @from@, sizeof(@T@));\n"
    "else\n"
    "@left_tile@[@to@]@left_place@ = 0;\n"
    "}\n"
    "@from@ = @right_from@;\n"
    "#pragma unroll\n"
    "for (int @u@ = 0; @u@ < @RIGHT_EACH@; @u@++, @from@ += @RIGHT_HOP@ * @right_pitch@) {\n"
    "const int @down@ = @right_down@ + @u@ * @RIGHT_HOP@;\n"
    "if (@right_is_in@)\n"
    "__pipeline_memcpy_async(&@right_tile@[@to@]@right_place@, @from@, sizeof(@T@));\n"
    "else\n"
    "@right_tile@[@to@]@right_place@ = 0;\n"
    "}\n"
    "}\n"
    "@left_from@ += @left_step@;\n"
    "@right_from@ += @right_step@;\n"
    "};\n"
    "for (int @s@ = 0; @s@ < @STAGES@ - 1; @s@++) {\n"
    "if (@s@ < @n_steps@)\n"
    "@fetch@(@s@);\n"
    "__pipeline_commit();\n"
    "}\n"
    "for (int @turn@ = 0; @turn@ < @n_steps@; @turn@++) {\n"
    "const int @now@ = @turn@ % @STAGES@;\n"
    "__pipeline_wait_prior(@STAGES@ - 2);\n"
    "__syncthreads();\n"
    "if (@turn@ + @STAGES@ - 1 < @n_steps@)\n"
    "@fetch@(@turn@ + @STAGES@ - 1);\n"
    "__pipeline_commit();\n" MULTIPLY
    "}\n";
/* clang-format on */

struct sizes { /* the tunables' names */
    const char *bm, *bn, *bk, *micro, *stages;
};

/* The words that depend on the order of a tile; the others are filled in with the rest. */
static const char *copy_text(const struct hone_cuda_contraction *c, const struct sizes *z,
                             const struct copy copies[2])
{
    const struct hone_coder_input *in = c->k->in;
    struct hone_pool *pool = in->pool;
    bool lk = c->left_along_k, rk = c->right_along_k;
    const char *step = z->bk;
    const struct hone_cuda_word words[] = {
        {"left_line", lk ? z->bk : z->bm},
        {"right_line", rk ? z->bk : z->bn},
        {"left_pitch_of", copies[0].pitch},
        {"right_pitch_of", copies[1].pitch},
        {"left_first_row", lk ? "@left_down@" : "@left_at@"},
        {"left_first_k", lk ? "@left_at@" : "@left_down@"},
        {"right_first_column", rk ? "@right_down@" : "@right_at@"},
        {"right_first_k", rk ? "@right_at@" : "@right_down@"},
        {"left_is_in",
         lk ? "@down@ < @rows@ && @left_at@ < @n_k@" : "@left_at@ < @rows@ && @down@ < @n_k@"},
        {"right_is_in", rk ? "@down@ < @columns@ && @right_at@ < @n_k@"
                           : "@right_at@ < @columns@ && @down@ < @n_k@"},
        {"left_place", lk ? "[@left_at@][@down@]" : "[@down@][@left_at@]"},
        {"right_place", rk ? "[@right_at@][@down@]" : "[@down@][@right_at@]"},
        {"left_step", lk ? step : hone_pool_printf(pool, "%s * @left_pitch@", step)},
        {"right_step", rk ? step : hone_pool_printf(pool, "%s * @right_pitch@", step)},
        {NULL, NULL},
    };
    return hone_cuda_fill_some(in, copies_text, words);
}

static const char *make_body(const struct hone_cuda_contraction *c, const struct sizes *z,
                             const struct copy *copies)
{
    const char *bm = z->bm, *bn = z->bn, *bk = z->bk;
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
    const struct hone_c_node *left_of = copies ? copies[0].load : c->left,
                             *right_of = copies ? copies[1].load : c->right;
    const char *left = hone_cuda_inline(c->k, left_of, subs, n_subs),
               *right = hone_cuda_inline(c->k, right_of, subs, n_subs);
    if (!upper || !lower || !row_bound || !column_bound || !left || !right)
        return NULL;
#define INDEX(fmt, size) hone_pool_printf(in->pool, "(%s " fmt " %s)", e, size)
    const struct hone_cuda_word words[] = {
        {"T", c->acc->type},
        {"BM", bm},
        {"BN", bn},
        {"BK", bk},
        {"MICRO", z->micro},
        {"STAGES", z->stages},
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
    const char *loop = copies ? copy_text(c, z, copies) : registers_text;
    return hone_cuda_fill(in, hone_pool_printf(in->pool, "%s%s%s", head_text, loop, finish_text),
                          words);
}

/* The tunables, defaults first. Static shared memory has 48 KiB; 8 covers what pads both tiles. */
static const char *name_sizes(const struct hone_cuda_contraction *c, int variant, struct sizes *z,
                              const char **ret_resident)
{
    const struct hone_coder_input *in = c->k->in;
    bool is_wide = strcmp(c->acc->type, "double") == 0;
    const struct {
        const char *stem, *values, **name;
    } rows[] = {{"BM", "128, 64", &z->bm},
                {"BN", "128, 64", &z->bn},
                {"BK", is_wide ? "8, 4" : "16, 8", &z->bk},
                {"MICRO", "8, 4", &z->micro},
                {"RESIDENT", "2, 1", ret_resident}};
    const char *out = "";
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++)
        out = hone_pool_printf(in->pool, "%s%s", out,
                               hone_cuda_tunable(in, rows[i].stem, rows[i].values, rows[i].name));
    z->stages = "2";
    if (variant != BY_COPIES)
        return out;
    z->stages = hone_fresh_name(in, "STAGES");
    return hone_pool_printf(in->pool,
                            "%s#pragma hone tune(%s: 2, 4) where(%s * %s * (%s + %s + 8) <= %d)\n",
                            out, z->stages, z->stages, z->bk, z->bm, z->bn, is_wide ? 6144 : 12288);
}

static char *apply(const struct hone_coder_input *in, const struct hone_coder_site *site,
                   struct hone_err *err)
{
    const struct hone_cuda_kernel *k = hone_cuda_kernel_at(in, site->node);
    struct hone_cuda_contraction c;
    struct sizes z;
    const char *resident;
    bool by_copies = site->variant == BY_COPIES;
    struct copy copies[2];
    if (!k || !hone_cuda_read_contraction(k, &c) || (by_copies && !read_copies(&c, copies))) {
        hone_fail(err, HONE_E_ARG, "the region is no contraction");
        return NULL;
    }
    const char *pragmas = name_sizes(&c, site->variant, &z, &resident);
    const char *body = make_body(&c, &z, by_copies ? copies : NULL);
    const char *threads =
        hone_pool_printf(in->pool, "%s / %s * (%s / %s)", z.bm, z.micro, z.bn, z.micro);
    struct hone_c_edits edits;
    hone_c_edits_init(&edits, in->tree);
    for (size_t i = 0; body && i < k->n_launches; i++) {
        const char *grid = hone_cuda_contraction_grid(&c, &k->launches[i], z.bm, z.bn);
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
        hone_pool_printf(in->pool, "%s, %s > 4 ? %s : 1", threads, z.micro, resident);
    bool has_header = strstr(in->tree->source, "cuda_pipeline.h") != NULL;
    hone_cuda_put_helpers(
        &edits, hone_pool_printf(in->pool, "%s%s",
                                 by_copies && !has_header ? "#include <cuda_pipeline.h>\n" : "",
                                 hone_cuda_vector_helper(in)));
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
