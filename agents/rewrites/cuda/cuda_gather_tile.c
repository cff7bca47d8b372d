/* SPDX-License-Identifier: Apache-2.0 */
/* G05 with G06 and G11: a sum of gathered factors as a product of matrices that nobody stores
 * (implicit GEMM; direct convolutions).
 *
 *     acc = init; for c for q for r if (inside) acc += L[o, c, q, r] * R[n, c, y + q, x + r];
 *
 * The sum's loops become one index k, the element's indices (digits, cuda_gather.h) rows and
 * columns. A block has BM x BN elements; for every BK steps of k it brings a part of L and a part of
 * R into shared memory, and each thread adds up TM x TN elements in registers. While it does, the
 * next parts are on their way. What an element gives to an address or to a side of the guard is
 * computed once for each row and column; what k gives, once for each k by one thread, and stands in
 * a small table; a load adds the two. The digits of k go on by addition with carries.
 *
 * Where a tap was skipped 0 * L stands for it: a sum that is no number is made again as it was
 * written. So is every sum where one of these numbers does not fit into 29 bits. */
#include <string.h>

#include "agents/rewrites/coder_rules.h"
#include "agents/rewrites/cuda/cuda_gather_tile.h"
#include "agents/source/cuda_contraction.h"

static size_t sites(const struct hone_coder_input *in, struct hone_coder_site *ret, size_t max)
{
    const struct hone_cuda_kernel *all[HONE_CUDA_MAX_KERNELS];
    size_t n_all = hone_cuda_kernels(in, all, HONE_CUDA_MAX_KERNELS), n = 0;
    for (size_t i = 0; i < n_all && n < max && !hone_rounds_as_written(in); i++) {
        struct hone_cuda_gather g;
        if (hone_cuda_read_gather(all[i], &g))
            ret[n++] =
                hone_cuda_site(all[i], 0, "each factor of the sum is read again by many elements");
    }
    return n;
}

/* ---- the text ---- */

static const char begin_text[] =
    "constexpr int @VEC@ = 16 / sizeof(@T@), @ACROSS@ = @BN@ / @TN@;\n"
    "constexpr int @THREADS@ = @BM@ / @TM@ * @ACROSS@, @WARPS@ = @THREADS@ / 32;\n"
    "constexpr int @LEFT_PARTS@ = @TM@ / @VEC@, @RIGHT_PARTS@ = @TN@ / @VEC@;\n"
    "/* COLUMNS of one thread, or SHARERS of one column */\n"
    "constexpr int @COLUMNS@ = @BN@ > @THREADS@ ? @BN@ / @THREADS@ : 1;\n"
    "constexpr int @SHARERS@ = @THREADS@ / @BN@ >= 4 ? 4 : @THREADS@ / @BN@ >= 2 ? 2 : 1;\n"
    "constexpr bool @HAS_SPARE@ = @THREADS@ > @SHARERS@ * @BN@;\n"
    "constexpr int @LEFT_EACH@ = (@BM@ * @BK@ + @THREADS@ - 1) / @THREADS@;\n"
    "constexpr int @RIGHT_EACH@ = @BK@ / @SHARERS@;\n"
    "static_assert(@TM@ * @TN@ <= 64 && @BK@ <= 32 && @THREADS@ % 32 == 0, \"no such tile\");\n"
    "alignas(16) __shared__ @T@ @left_tile@[2][@BK@][@BM@ + @VEC@];\n"
    "alignas(16) __shared__ @T@ @right_tile@[2][@BK@][@BN@ + @VEC@];\n"
    "/* what k, a row and a column give to addresses and to the guard */\n"
    "__shared__ vector_of<int, @N_MOVED@> @moved@[2][@BK@];\n"
    "__shared__ const @LEFT_T@ *@left_from@[@BM@];\n"
    "__shared__ const @RIGHT_T@ *@right_from@[@BN@];\n"
    "__shared__ int @held@[@N_HELD@][@BN@], @column_digits@[@N_DIGITS@][@BN@];\n"
    "__shared__ int @k_steps@[@N_LOOPS@], @is_far@;\n"
    "/* the first row and column, and how many are left from there */\n"
    "__shared__ int64_t @corner@[4];\n"
    "const int64_t @n_rows@ = @ROW_COUNT@, @n_columns@ = @COLUMN_COUNT@;\n"
    "const int64_t @row_tiles@ = (@n_rows@ + @BM@ - 1) / @BM@;\n"
    "const int64_t @row_at@ = blockIdx.x % @row_tiles@ * @BM@;\n"
    "const int64_t @column_at@ = blockIdx.x / @row_tiles@ * @BN@;\n"
    "/* far: a number is too large for the tables */\n"
    "bool @far@ = false;\n"
    "@counts@"
    "const int @n_k@ = @far@ ? 0 : (int)(@product@);\n"
    "@steps@"
    "if (threadIdx.x == 0) {\n"
    "@is_far@ = 0;\n"
    "@corner@[0] = @row_at@;\n"
    "@corner@[1] = @column_at@;\n"
    "@corner@[2] = @n_rows@ - @row_at@;\n"
    "@corner@[3] = @n_columns@ - @column_at@;\n"
    "}\n"
    "__syncthreads();\n"
    "@fixed_parts@"
    "for (int @i@ = threadIdx.x; @i@ < @BM@; @i@ += @THREADS@) {\n"
    "int64_t @row@ = @row_at@ + @i@ < @n_rows@ ? @row_at@ + @i@ : 0;\n"
    "@row_digits@"
    "@left_from@[@i@] = @left_root@ + (@left_offset@);\n"
    "}\n"
    "for (int @at@ = threadIdx.x; @at@ < @BN@; @at@ += @THREADS@) {\n"
    "int64_t @column@ = @column_at@ + @at@ < @n_columns@ ? @column_at@ + @at@ : 0;\n"
    "@column_split@"
    "@right_from@[@at@] = @right_root@ + (@right_offset@);\n"
    "@held_values@"
    "@keep_digits@"
    "}\n"
    "if (@far@)\n"
    "@is_far@ = 1;\n";

static const char loop_text[] =
    "const int @thread_row@ = threadIdx.x / @ACROSS@ * @VEC@;\n"
    "const int @thread_column@ = threadIdx.x % @ACROSS@;\n"
    "const int @sharer@ = threadIdx.x / @BN@ % @SHARERS@;\n"
    "const bool @is_loader@ = !@HAS_SPARE@ || threadIdx.x < @SHARERS@ * @BN@;\n"
    "@T@ @left_next@[@LEFT_EACH@], @right_next@[@RIGHT_EACH@][@COLUMNS@];\n"
    "@T@ @total@[@TM@][@TN@] = {};\n"
    "int @now@ = 0;\n"
    "/* The first turn only fills a table, the second one only fetches. */\n"
    "for (int @k_at@ = -2 * @BK@; @k_at@ < @n_k@; @k_at@ += @BK@, @now@ ^= 1) {\n"
    "const int @left_over@ = @k_at@ < -@BK@ || @is_far@ ? 0 : @n_k@ - @k_at@ - @BK@;\n"
    "if (@left_over@ > 0) {\n"
    "#pragma unroll\n"
    "for (int @v@ = 0; @v@ < @LEFT_EACH@; @v@++) {\n"
    "const unsigned @e@ = threadIdx.x + @v@ * @THREADS@;\n"
    "const bool @is_summed@ = ((int)@left_k@ < @left_over@) & (@BM@ * @BK@ % @THREADS@ == 0 || @e@ "
    "< "
    "@BM@ * @BK@);\n"
    "@left_next@[@v@] = @is_summed@ ? (@T@)(@left@) : (@T@)0;\n"
    "}\n"
    "#pragma unroll\n"
    "for (int @u@ = 0; @u@ < @COLUMNS@; @u@++) {\n"
    "const int @at@ = threadIdx.x % @BN@ + @u@ * @THREADS@;\n"
    "const @RIGHT_T@ *const @from@ = @right_from@[@at@];\n"
    "@held_here@"
    "#pragma unroll\n"
    "for (int @v@ = 0; @v@ < @RIGHT_EACH@; @v@++) {\n"
    "const int @k@ = @sharer@ + @v@ * @SHARERS@;\n"
    "const vector_of<int, @N_MOVED@> @entry@ = @moved@[@now@][@k@];\n"
    "const bool @is_summed@ = (@k@ < @left_over@) & @is_loader@@guard@;\n"
    "@right_next@[@v@][@u@] = @is_summed@ ? (@T@)(@right@) : (@T@)0;\n"
    "}\n"
    "}\n"
    "}\n"
    "/* the warps fill the tables in turn */\n"
    "if ((unsigned)(@k_at@ + 2 * @BK@) / @BK@ % @WARPS@ == threadIdx.x / 32 && threadIdx.x % 32 < "
    "@BK@) {\n"
    "const bool @is_k@ = @k_at@ + 2 * @BK@ + (int)threadIdx.x % 32 < @n_k@;\n"
    "vector_of<int, @N_MOVED@> &@entry@ = @moved@[@now@ ^ 1][threadIdx.x % 32];\n"
    "bool @far_k@ = false;\n"
    "@loop_values@"
    "@moved_values@"
    "if (@is_k@ && @far_k@)\n"
    "@is_far@ = 1;\n"
    "@advance@"
    "}\n"
    "if (@k_at@ >= 0) {\n"
    "#pragma unroll\n"
    "for (int @step@ = 0; @step@ < @BK@; @step@++) {\n"
    "vector_of<@T@, @VEC@> @left_part@[@LEFT_PARTS@], @right_part@[@RIGHT_PARTS@];\n"
    "#pragma unroll\n"
    "for (int @p@ = 0; @p@ < @LEFT_PARTS@; @p@++)\n"
    "@left_part@[@p@] = *(const vector_of<@T@, @VEC@> *)&@left_tile@[@now@][@step@][@p@ * (@BM@ / "
    "@LEFT_PARTS@) + @thread_row@];\n"
    "#pragma unroll\n"
    "for (int @p@ = 0; @p@ < @RIGHT_PARTS@; @p@++)\n"
    "@right_part@[@p@] = *(const vector_of<@T@, @VEC@> *)&@right_tile@[@now@][@step@][(@p@ * "
    "@ACROSS@ + @thread_column@) * @VEC@];\n"
    "#pragma unroll\n"
    "for (int @r@ = 0; @r@ < @TM@; @r@++)\n"
    "#pragma unroll\n"
    "for (int @c@ = 0; @c@ < @TN@; @c@++)\n"
    "@total@[@r@][@c@] += @left_part@[@r@ / @VEC@].v[@r@ % @VEC@] * @right_part@[@c@ / "
    "@VEC@].v[@c@ % @VEC@];\n"
    "}\n"
    "}\n"
    "if (@left_over@ > 0) {\n"
    "#pragma unroll\n"
    "for (int @v@ = 0; @v@ < @LEFT_EACH@; @v@++) {\n"
    "const unsigned @e@ = threadIdx.x + @v@ * @THREADS@;\n"
    "if (@BM@ * @BK@ % @THREADS@ == 0 || @e@ < @BM@ * @BK@)\n"
    "@left_tile@[@now@ ^ 1][@left_k@][@left_row@] = @left_next@[@v@];\n"
    "}\n"
    "#pragma unroll\n"
    "for (int @u@ = 0; @u@ < @COLUMNS@ && @is_loader@; @u@++) {\n"
    "/* neighbours lie in neighbouring threads, VEC of a thread side by side */\n"
    "const int @at@ = threadIdx.x % @BN@ + @u@ * @THREADS@;\n"
    "const int @place@ = @at@ / (@ACROSS@ * @VEC@) * (@ACROSS@ * @VEC@) + @at@ % @ACROSS@ * @VEC@ "
    "+\n"
    "@at@ / @ACROSS@ % @VEC@;\n"
    "#pragma unroll\n"
    "for (int @v@ = 0; @v@ < @RIGHT_EACH@; @v@++)\n"
    "@right_tile@[@now@ ^ 1][@sharer@ + @v@ * @SHARERS@][@place@] = @right_next@[@v@][@u@];\n"
    "}\n"
    "}\n"
    "__syncthreads();\n"
    "}\n";

static const char end_text[] =
    "uint64_t @again@ = 0;\n"
    "const int64_t @first_row@ = @corner@[0], @first_column@ = @corner@[1];\n"
    "const int @rows_left@ = @corner@[2] < @BM@ ? (int)@corner@[2] : @BM@;\n"
    "const int @columns_left@ = @corner@[3] < @BN@ ? (int)@corner@[3] : @BN@;\n"
    "#pragma unroll\n"
    "for (int @c@ = 0; @c@ < @TN@; @c@++) {\n"
    "const int @at@ = @c@ * @ACROSS@ + @thread_column@;\n"
    "@read_digits@"
    "#pragma unroll\n"
    "for (int @r@ = 0; @r@ < @TM@; @r@++) {\n"
    "const int @down@ = @r@ / @VEC@ * (@BM@ / @LEFT_PARTS@) + @thread_row@ + @r@ % @VEC@;\n"
    "[[maybe_unused]] const int64_t @row@ = @first_row@ + @down@;\n"
    "@row_split@"
    "@axes@"
    "if (@down@ < @rows_left@ && @at@ < @columns_left@@bounds@) {\n"
    "if (@is_far@@is_odd@) {\n"
    "@again@ |= (uint64_t)1 << (@c@ * @TM@ + @r@);\n"
    "} else {\n"
    "@finish@"
    "}\n"
    "}\n"
    "}\n"
    "}\n"
    "/* What is far or no number is made as it was written. */\n"
    "for (int @i@ = 0; @again@ != 0; @i@++, @again@ >>= 1) {\n"
    "if (@again@ & 1) {\n"
    "const int @r@ = @i@ % @TM@;\n"
    "const int64_t @row@ = @first_row@ + @r@ / @VEC@ * (@BM@ / @LEFT_PARTS@) + @thread_row@ + @r@ "
    "% "
    "@VEC@;\n"
    "const int64_t @column@ = @first_column@ + @i@ / @TM@ * @ACROSS@ + @thread_column@;\n"
    "@row_split@"
    "@column_again@"
    "@axes@"
    "@written@"
    "}\n"
    "}\n";

struct text { /* names that several pieces share */
    const char *far, *far_k, *total, *r, *c, *row, *column, *column_digits, *e, *k_digit, *step,
        *k_steps;
};

static const char *bad_text(const struct hone_tile *t, const char *value)
{
    return hone_pool_printf(t->pool, "(uint64_t)(%s + (1 << 28)) >> 29 != 0", value);
}

/* How often a loop of the sum goes round, if it does; NULL: it changes. */
static const char *loop_count(const struct hone_tile *t, const struct hone_c_loop *l)
{
    const char *lower = hone_cuda_bracket(t->k, l->lower),
               *upper = hone_cuda_bracket(t->k, l->upper);
    return lower && upper ? hone_pool_printf(t->pool, "((int64_t)%s - (int64_t)%s%s)", upper, lower,
                                             l->is_inclusive ? " + 1" : "")
                          : NULL;
}

static const char *counts_text(const struct hone_tile *t, const struct text *x,
                               const char **ret_product)
{
    const char *out = "", *product = "(int64_t)1", *rough = "1.0";
    for (size_t i = 0; i < t->g.n_loops; i++) {
        const char *wide = loop_count(t, t->g.loops[i]);
        if (!wide)
            return NULL;
        out = hone_pool_printf(t->pool,
                               "%s%s |= %s >= 1 << 28;\nconst int %s_n%zu = %s > 0 ? (int)%s : "
                               "0;\n",
                               out, x->far, wide, x->k_digit, i, wide, wide);
        product = hone_pool_printf(t->pool, "%s * %s_n%zu", product, x->k_digit, i);
        rough = hone_pool_printf(t->pool, "%s * %s_n%zu", rough, x->k_digit, i);
    }
    *ret_product = product;
    return hone_pool_printf(t->pool, "%s%s |= %s >= 1 << 28;\n", out, x->far, rough);
}

/* The digits of this thread's first k, and of the step from one of its tables to the next. */
static const char *steps_text(const struct hone_tile *t, const struct text *x, const char *n_k,
                              const char *warps)
{
    const char *out = "", *firsts = "", *steps = "";
    const char *d = x->k_digit, *s = x->k_steps;
    for (size_t i = 0; i < t->g.n_loops; i++)
        out = hone_pool_printf(t->pool, "%sint %s_%zu = 0;\n", out, d, i);
    for (size_t i = t->g.n_loops; i-- > 1;) {
        firsts =
            hone_pool_printf(t->pool, "%s%s_%zu = %s_first %% %s_n%zu;\n%s_first /= %s_n%zu;\n",
                             firsts, d, i, d, d, i, d, d, i);
        steps = hone_pool_printf(t->pool, "%s%s[%zu] = %s_rest %% %s_n%zu;\n%s_rest /= %s_n%zu;\n",
                                 steps, s, i, d, d, i, d, d, i);
    }
    return hone_pool_printf(t->pool,
                            "%sif (%s > 0) {\n"
                            "int %s_first = (int)threadIdx.x / 32 * %s + (int)threadIdx.x %% 32;\n"
                            "%s%s_0 = %s_first;\n}\n"
                            "if (%s > 0 && threadIdx.x == 0) {\n"
                            "int %s_rest = %s * %s;\n"
                            "%s%s[0] = %s_rest;\n}\n",
                            out, n_k, d, t->bk, firsts, d, d, n_k, d, warps, t->bk, steps, s, d);
}

static const char *advance_text(const struct hone_tile *t, const struct text *x)
{
    const char *out = "", *d = x->k_digit;
    for (size_t i = t->g.n_loops; i-- > 0;) {
        const char *count = hone_pool_printf(t->pool, "(int)%s", loop_count(t, t->g.loops[i]));
        out = hone_pool_printf(t->pool, "%s%s_%zu += %s[%zu];\n", out, d, i, x->k_steps, i);
        if (i > 0)
            out = hone_pool_printf(t->pool, "%sif (%s_%zu >= %s) {\n%s_%zu -= %s;\n%s_%zu++;\n}\n",
                                   out, d, i, count, d, i, count, d, i - 1);
    }
    return out;
}

static const char *loop_values_text(const struct hone_tile *t, const struct text *x)
{
    const char *out = "";
    for (size_t i = 0; i < t->g.n_loops; i++) {
        const struct hone_c_node *v = t->g.loops[i]->var;
        const char *type = hone_tile_type(t, v);
        out = hone_pool_printf(t->pool, "%s[[maybe_unused]] const %s %s = (%s)(%s + %s_%zu);\n",
                               out, type, v->name, type,
                               hone_cuda_bracket(t->k, t->g.loops[i]->lower), x->k_digit, i);
    }
    return out;
}

/* Each number is computed in 64 bits and kept in 32, in the place before..number..after. */
static const char *numbers_text(const struct hone_tile *t, const struct hone_tile_numbers *list,
                                const char *far, const char *before, const char *after)
{
    const char *out = "";
    for (size_t i = 0; i < list->n; i++) {
        const char *wide = hone_fresh_name(t->k->in, "wide");
        out = hone_pool_printf(
            t->pool, "%s{\nconst int64_t %s = %s;\n%s |= %s;\n%s%zu%s = (int)%s;\n}\n", out, wide,
            list->texts[i], far, bad_text(t, wide), before, i, after, wide);
    }
    return out;
}

static const char *declared_text(const struct hone_tile *t, const struct hone_tile_numbers *list,
                                 const char *stem, const char *size)
{
    const char *out = "";
    for (size_t i = 0; i < list->n; i++)
        out = hone_pool_printf(t->pool, "%sint %s_%zu%s;\n", out, stem, i, size);
    return out;
}

/* What a column gives, for a thread. */
static const char *held_text(const struct hone_tile *t, const char *table)
{
    const char *out = "";
    for (size_t i = 0; i < t->by_column.n; i++)
        out = hone_pool_printf(t->pool, "%sconst int %s_%zu = %s[%zu][%s];\n", out, t->held, i,
                               table, i, t->at);
    return out;
}

/* Column digits to shared memory, and from there. */
static const char *digits_text(const struct hone_tile *t, const struct text *x, bool is_read)
{
    const char *out = "";
    size_t n = 0;
    for (size_t i = 0; i < t->g.digits.n; i++) {
        if (!(t->g.columns & 1u << i))
            continue;
        const char *type = hone_tile_type(t, t->g.digits.v[i].var);
        out = is_read
                  ? hone_pool_printf(t->pool, "%s[[maybe_unused]] const %s %s = (%s)%s[%zu][%s];\n",
                                     out, type, t->digits[i], type, x->column_digits, n, t->at)
                  : hone_pool_printf(
                        t->pool, "%s%s[%zu][%s] = (int)%s;\n%s |= %s;\n", out, x->column_digits, n,
                        t->at, t->digits[i], x->far,
                        bad_text(t, hone_pool_printf(t->pool, "(int64_t)%s", t->digits[i])));
        n++;
    }
    return out;
}

static bool declares_digits(const struct hone_tile *t, const struct hone_c_node *s)
{
    bool is_all = s->kind == HONE_C_DECL_STMT && s->first;
    for (const struct hone_c_node *v = s->first; is_all && v; v = v->next) {
        bool is_one = false;
        for (size_t i = 0; i < t->g.digits.n; i++)
            is_one = is_one || t->g.digits.v[i].var == v;
        is_all = is_one;
    }
    return is_all;
}

/* The statements; total NULL: as they were written, else the nest gives way to adding the total. */
static const char *statements_text(const struct hone_tile *t, const char *total)
{
    const struct hone_c_tree *tree = t->k->in->tree;
    HONE_CLEANUP(hone_buf_done) struct hone_buf out = HONE_BUF_INIT;
    for (size_t i = 0; i < t->k->n_stmts; i++) {
        const struct hone_c_node *s = t->k->stmts[i];
        if (declares_digits(t, s))
            continue;
        if (s == t->g.nest && total)
            hone_buf_printf(&out, "%s += %s;\n", t->g.acc->name, total);
        else
            hone_buf_printf(&out, "%.*s\n", (int)(hone_c_stmt_end(tree, s) - s->begin),
                            tree->source + s->begin);
    }
    return hone_pool_strdup(t->pool, out.data ? out.data : "");
}

static size_t count_bits(unsigned mask)
{
    return (size_t)__builtin_popcount(mask);
}

static bool knows_sizes(const struct hone_tile *t)
{
    for (size_t i = 0; i < t->g.digits.n; i++) {
        const struct hone_cuda_digit *d = &t->g.digits.v[i];
        if (!hone_tile_size(t, i, NULL) || !hone_tile_term(t, &d->below, NULL) ||
            !hone_cuda_inline(t->k, d->axis->bound, NULL, 0))
            return false;
    }
    return true;
}

static const char *make_body(struct hone_tile *t)
{
    if (!knows_sizes(t))
        return NULL;
    const struct hone_coder_input *in = t->k->in;
    struct hone_pool *pool = t->pool;
#define FRESH(stem) hone_fresh_name(in, stem)
    const struct text x = {FRESH("far"), FRESH("far_k"),   FRESH("total"),  FRESH("r"),
                           FRESH("c"),   FRESH("row"),     FRESH("column"), FRESH("column_digits"),
                           FRESH("e"),   FRESH("k_digit"), FRESH("step"),   FRESH("k_steps")};
    const char *now = FRESH("now"), *n_k = FRESH("n_k"), *held = FRESH("held"),
               *from = FRESH("from"), *warps = FRESH("WARPS"), *product = NULL,
               *left_from = FRESH("left_from");
    const char *left_type = hone_element_type(in, t->g.left.root),
               *right_type = hone_element_type(in, t->g.right.root);
    bool is_along = hone_tile_is_along_sum(t, &t->g.left);
    const char *left_k = hone_pool_printf(pool, is_along ? "(%s %% %s)" : "(%s / %s)", x.e,
                                          is_along ? t->bk : t->bm),
               *left_row = hone_pool_printf(pool, is_along ? "(%s / %s)" : "(%s %% %s)", x.e,
                                            is_along ? t->bk : t->bm);
    size_t left_at = hone_tile_number(t, &t->by_sum, hone_tile_offset(t, &t->g.left, true)),
           right_at = hone_tile_number(t, &t->by_sum, hone_tile_offset(t, &t->g.right, true));
    const char *guard = hone_tile_guards(t), *counts = counts_text(t, &x, &product);
    if (!guard || !counts || t->is_full || !left_type || !right_type)
        return NULL;
    const char *left = hone_tile_load(
        t, &t->g.left, t->g.left.expr, hone_pool_printf(pool, "%s[%s]", left_from, left_row),
        hone_pool_printf(pool, "%s[%s][%s].v[%zu]", t->moved, now, left_k, left_at));
    const char *right = hone_tile_load(t, &t->g.right, t->g.right.expr, from,
                                       hone_pool_printf(pool, "%s.v[%zu]", t->entry, right_at));
    const char *total = hone_pool_printf(pool, "%s[%s][%s]", x.total, x.r, x.c);
    bool is_checked = t->g.n_conds > 0 && strcmp(t->g.acc->type, "int") != 0;
    size_t n_moved = 2; /* vectors have powers of two */
    while (n_moved < t->by_sum.n)
        n_moved *= 2;
    /* names that stand for themselves are left to hone_cuda_fill */
    const struct hone_cuda_word words[] = {
        {"T", t->g.acc->type},
        {"BM", t->bm},
        {"BN", t->bn},
        {"BK", t->bk},
        {"TM", t->tm},
        {"TN", t->tn},
        {"RIGHT_T", right_type},
        {"LEFT_T", left_type},
        {"left_root", t->g.left.root->name},
        {"N_HELD", hone_pool_printf(pool, "%zu", t->by_column.n > 0 ? t->by_column.n : 1)},
        {"N_MOVED", hone_pool_printf(pool, "%zu", n_moved)},
        {"N_DIGITS", hone_pool_printf(pool, "%zu", count_bits(t->g.columns))},
        {"ROW_COUNT", hone_tile_count(t, t->g.rows, NULL)},
        {"COLUMN_COUNT", hone_tile_count(t, t->g.columns, NULL)},
        {"N_LOOPS", hone_pool_printf(pool, "%zu", t->g.n_loops)},
        {"left_k", left_k},
        {"left_row", left_row},
        {"left", left},
        {"right", right},
        {"guard", guard},
        {"counts", counts},
        {"product", product},
        {"steps", steps_text(t, &x, n_k, warps)},
        {"advance", advance_text(t, &x)},
        {"loop_values", loop_values_text(t, &x)},
        {"fixed_parts",
         hone_pool_printf(
             pool, "%s%s", declared_text(t, &t->by_launch, t->fixed, ""),
             numbers_text(t, &t->by_launch, x.far, hone_pool_printf(pool, "%s_", t->fixed), ""))},
        {"held_here", held_text(t, held)},
        {"held_values", numbers_text(t, &t->by_column, x.far, hone_pool_printf(pool, "%s[", held),
                                     hone_pool_printf(pool, "][%s]", t->at))},
        {"moved_values",
         numbers_text(t, &t->by_sum, x.far_k, hone_pool_printf(pool, "%s.v[", t->entry), "]")},
        {"row_digits", hone_tile_clamped(t, t->g.rows, x.row)},
        {"row_split", hone_tile_split(t, t->g.rows, x.row)},
        {"column_split", hone_tile_clamped(t, t->g.columns, x.column)},
        {"column_again", hone_tile_split(t, t->g.columns, x.column)},
        {"right_root", t->g.right.root->name},
        {"left_offset", hone_tile_offset(t, &t->g.left, false)},
        {"right_offset", hone_tile_offset(t, &t->g.right, false)},
        {"keep_digits", digits_text(t, &x, false)},
        {"read_digits", digits_text(t, &x, true)},
        {"axes", hone_tile_axes(t)},
        {"bounds", hone_tile_bounds(t, ~0u)},
        {"is_odd", is_checked ? hone_pool_printf(pool, " || !(%s == %s)", total, total) : ""},
        {"finish", statements_text(t, total)},
        {"written", statements_text(t, NULL)},
        {NULL, NULL},
    };
#undef FRESH
    return hone_pool_printf(pool, "%s%s%s", hone_cuda_fill(in, begin_text, words),
                            hone_cuda_fill(in, loop_text, words),
                            hone_cuda_fill(in, end_text, words));
}

/* ---- the launch ---- */

static const char *grid_text(const struct hone_tile *t, const struct hone_cuda_launch *l)
{
    const char *rows = hone_tile_count(t, t->g.rows, l),
               *columns = hone_tile_count(t, t->g.columns, l);
    if (!rows || !columns)
        return NULL;
    return hone_pool_printf(t->pool, "(unsigned)((%s + %s - 1) / %s * ((%s + %s - 1) / %s))", rows,
                            t->bm, t->bm, columns, t->bn, t->bn);
}

static void name_things(struct hone_tile *t, const struct hone_coder_input *in)
{
    t->moved = hone_fresh_name(in, "moved");
    t->held = hone_fresh_name(in, "here");
    t->fixed = hone_fresh_name(in, "fixed");
    t->entry = hone_fresh_name(in, "entry");
    t->at = hone_fresh_name(in, "at");
    for (size_t i = 0; i < t->g.digits.n; i++) {
        const struct hone_c_node *var = t->g.digits.v[i].var;
        t->digits[i] =
            var ? var->name : hone_fresh_name(in, hone_pool_printf(in->pool, "part_%zu", i));
    }
}

static char *apply(const struct hone_coder_input *in, const struct hone_coder_site *site,
                   struct hone_err *err)
{
    struct hone_tile t = {.k = hone_cuda_kernel_at(in, site->node), .pool = in->pool};
    if (!t.k || !hone_cuda_read_gather(t.k, &t.g)) {
        hone_fail(err, HONE_E_ARG, "the region is no sum of gathered factors");
        return NULL;
    }
    name_things(&t, in);
    bool is_wide = strcmp(t.g.acc->type, "double") == 0; /* 48 KiB of static shared memory */
    const char *resident;
    const struct {
        const char **name, *stem, *values;
    } tunables[] = {{&t.bm, "BM", "64, 128, 96, 32"},
                    {&t.bn, "BN", "128, 64"},
                    {&t.bk, "BK", is_wide ? "8, 4" : "8, 16"},
                    {&t.tm, "TM", "8, 4"},
                    {&t.tn, "TN", "8, 4"},
                    {&resident, "RESIDENT", "512, 384"}}; /* threads of a multiprocessor */
    const char *pragmas = "";
    for (size_t i = 0; i < HONE_COUNTOF(tunables); i++)
        pragmas = hone_pool_printf(
            in->pool, "%s%s", pragmas,
            hone_cuda_tunable(in, tunables[i].stem, tunables[i].values, tunables[i].name));
    const char *body = make_body(&t);
    const char *threads = hone_pool_printf(in->pool, "%s / %s * (%s / %s)", t.bm, t.tm, t.bn, t.tn);
    struct hone_c_edits edits;
    hone_c_edits_init(&edits, in->tree);
    for (size_t i = 0; body && i < t.k->n_launches; i++) {
        const char *grid = grid_text(&t, &t.k->launches[i]);
        if (grid)
            hone_cuda_set_launch(&edits, &t.k->launches[i], grid, threads, "0");
        body = grid ? body : NULL;
    }
    if (!body) {
        hone_fail(err, HONE_E_ARG, "a size or a guard is made of too much");
        return NULL;
    }
    const char *bounds = is_wide ? threads
                                 : hone_pool_printf(in->pool, "%s, %s * %s > 32 ? %s / (%s) : 1",
                                                    threads, t.tm, t.tn, resident, threads);
    hone_cuda_put_helpers(&edits, hone_cuda_vector_helper(in));
    hone_cuda_replace_kernel(&edits, t.k, pragmas, hone_cuda_header(t.k, bounds, ""), body);
    hone_cuda_drop_unused(&edits, t.k);
    return hone_cuda_finish(&edits);
}

const struct hone_rewrite hone_rewrite_cuda_gather_tile = {
    .name = "cuda_gather_tile",
    .target = "cuda",
    .strategy = "G05",
    .words = "gathered factors by shared-memory tiles and register micro-tiles",
    .form = HONE_REWRITE_NORMAL,
    .sites = sites,
    .apply = apply,
};
