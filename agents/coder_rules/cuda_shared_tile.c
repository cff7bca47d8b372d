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

#include "agents/cuda_kernel.h"

struct contraction {
    const struct hone_cuda_kernel *k;
    const struct hone_c_loop *loop;
    const struct hone_c_node *acc;                     /* declaration */
    const struct hone_c_node *left, *right;            /* factors: rows and columns */
    const struct hone_cuda_axis *row, *column, *batch; /* batch NULL: none */
    bool left_along_k, right_along_k;                  /* contiguous by k, not by row or column */
};

static const struct hone_c_node *only_loop(const struct hone_cuda_kernel *k)
{
    const struct hone_c_node *loop = NULL;
    for (size_t i = 0; i < k->n_stmts; i++) {
        for (const struct hone_c_node *n = k->stmts[i]; n; n = hone_c_walk(k->stmts[i], n)) {
            if (n->kind == HONE_C_WHILE || n->kind == HONE_C_JUMP)
                return NULL;
            if (n->kind != HONE_C_FOR)
                continue;
            if (loop || n != k->stmts[i])
                return NULL;
            loop = n;
        }
    }
    return loop;
}

/* acc += a * b, acc = acc + a * b, acc = fmaf(a, b, acc) */
static bool read_update(struct contraction *c)
{
    struct hone_c_reduction r[HONE_C_MAX_REDUCTIONS];
    size_t n = 0;
    const struct hone_c_node *stmt = hone_c_only_stmt(c->loop->node->body);
    if (!stmt)
        return false;
    if (stmt->kind == HONE_C_BINARY && strcmp(stmt->op, "=") == 0 &&
        stmt->first->kind == HONE_C_REF) {
        const struct hone_c_node *call = hone_c_strip(stmt->last);
        const struct hone_c_node *last =
            call->kind == HONE_C_CALL ? hone_c_strip(call->last) : NULL;
        if (last && hone_c_n_children(call) == 4 && strstr(call->name, "fma") &&
            last->kind == HONE_C_REF && last->decl == stmt->first->decl) {
            c->acc = stmt->first->decl;
            c->left = hone_c_child(call, 1);
            c->right = hone_c_child(call, 2);
            return true;
        }
    }
    if (!hone_c_reductions(c->loop, r, &n) || n != 1 || strcmp(r[0].op, "+") != 0 ||
        r[0].stmt != stmt)
        return false;
    const struct hone_c_node *product = hone_c_strip(r[0].expr);
    if (product->kind != HONE_C_BINARY || strcmp(product->op, "*") != 0)
        return false;
    c->acc = r[0].var;
    c->left = product->first;
    c->right = product->last;
    return true;
}

static const struct hone_cuda_axis *axis_by(const struct hone_cuda_kernel *k,
                                            const struct hone_c_node *expr,
                                            const struct hone_c_node *other)
{
    const struct hone_cuda_axis *found = NULL;
    for (size_t i = 0; i < k->n_axes; i++) {
        const struct hone_c_node *v = k->axes[i].var;
        if (!hone_cuda_depends(k, expr, v) || hone_cuda_depends(k, other, v))
            continue;
        if (found && found->dim != 'z' && k->axes[i].dim != 'z')
            return NULL;
        if (!found || found->dim == 'z') /* z is the batch where two would do */
            found = &k->axes[i];
    }
    return found;
}

static bool is_unit(const struct contraction *c, const struct hone_c_node *expr,
                    const struct hone_c_node *var)
{
    struct hone_c_access a[4];
    size_t n = hone_c_accesses(c->k->function, expr, a, HONE_COUNTOF(a));
    return n > 0 && hone_c_poly_stride(&a[0].index, var) == HONE_C_STRIDE_UNIT;
}

/* Does some store run along the axis? */
static bool is_stored_along(const struct contraction *c, const struct hone_cuda_axis *axis)
{
    for (size_t i = 0; i < c->k->n_stmts; i++) {
        struct hone_c_access a[8];
        size_t n = hone_c_accesses(c->k->function, c->k->stmts[i], a, HONE_COUNTOF(a));
        for (size_t j = 0; j < n && j < HONE_COUNTOF(a); j++)
            if (a[j].is_write && hone_c_poly_stride(&a[j].index, axis->var) == HONE_C_STRIDE_UNIT)
                return true;
    }
    return false;
}

static bool read_axes(struct contraction *c)
{
    c->row = axis_by(c->k, c->left, c->right);
    c->column = axis_by(c->k, c->right, c->left);
    if (!c->row || !c->column || c->row == c->column)
        return false;
    if (is_stored_along(c, c->row) && !is_stored_along(c, c->column)) {
        const struct hone_cuda_axis *axis = c->row;
        const struct hone_c_node *factor = c->left;
        c->row = c->column;
        c->left = c->right;
        c->column = axis;
        c->right = factor;
    }
    for (size_t i = 0; i < c->k->n_axes; i++)
        if (&c->k->axes[i] != c->row && &c->k->axes[i] != c->column)
            c->batch = &c->k->axes[i];
    const struct hone_c_node *row = c->row->var, *column = c->column->var;
    const struct hone_c_node *bounds[] = {c->loop->lower, c->loop->upper};
    for (size_t i = 0; i < HONE_COUNTOF(bounds); i++)
        if (hone_cuda_depends(c->k, bounds[i], row) || hone_cuda_depends(c->k, bounds[i], column))
            return false;
    return true;
}

static bool read_contraction(const struct hone_cuda_kernel *k, struct contraction *c)
{
    *c = (struct contraction){.k = k};
    if (!k->is_plain || k->n_axes < 2)
        return false;
    const struct hone_c_node *loop = only_loop(k);
    c->loop = loop ? hone_c_loop_of(&k->nest, loop) : NULL;
    if (!c->loop || !c->loop->is_canonical || !c->loop->is_unit_step || !c->loop->declares_var ||
        !read_update(c) || !hone_cuda_depends(k, c->left, c->loop->var) ||
        !hone_cuda_depends(k, c->right, c->loop->var) || !read_axes(c))
        return false;
    if (strcmp(c->acc->type, "float") != 0 && strcmp(c->acc->type, "double") != 0 &&
        strcmp(c->acc->type, "int") != 0)
        return false;
    c->left_along_k = is_unit(c, c->left, c->loop->var);
    c->right_along_k = is_unit(c, c->right, c->loop->var);
    struct hone_cuda_sub sub = {c->loop->var, "k"};
    return hone_cuda_inline(k, c->left, &sub, 1) && hone_cuda_inline(k, c->right, &sub, 1);
}

static size_t sites(const struct hone_coder_input *in, struct hone_coder_site *ret, size_t max)
{
    const struct hone_cuda_kernel *all[HONE_CUDA_MAX_KERNELS];
    size_t n_all = hone_cuda_kernels(in, all, HONE_CUDA_MAX_KERNELS), n = 0;
    for (size_t i = 0; i < n_all && n < max; i++) {
        struct contraction c;
        if (read_contraction(all[i], &c))
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
    "@batch@"
    "const int64_t @row_at@ = @tile@ / @n_columns@ * @BM@;\n"
    "const int64_t @column_at@ = @tile@ % @n_columns@ * @BN@;\n"
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

/* The statements around the loop, which itself gives way to adding the total. */
static const char *finish_text(const struct contraction *c, const char *total)
{
    const struct hone_coder_input *in = c->k->in;
    HONE_CLEANUP(hone_buf_done) struct hone_buf out = HONE_BUF_INIT;
    for (size_t i = 0; i < c->k->n_stmts; i++) {
        const struct hone_c_node *s = c->k->stmts[i];
        if (s == c->loop->node)
            hone_buf_printf(&out, "%s += %s;\n", c->acc->name, total);
        else
            hone_buf_printf(&out, "%.*s\n", (int)(hone_c_stmt_end(in->tree, s) - s->begin),
                            in->tree->source + s->begin);
    }
    return hone_pool_strdup(in->pool, out.data ? out.data : "");
}

static const char *batch_text(const struct contraction *c, const char *bm, const char *bn,
                              const char *tile, const char *row_bound, const char *column_bound)
{
    struct hone_pool *pool = c->k->in->pool;
    const struct hone_c_node *b = c->batch ? c->batch->var : NULL;
    if (!b)
        return hone_pool_printf(pool, "const int64_t %s = blockIdx.x;\n", tile);
    const char *tiles = hone_pool_printf(pool, "((%s + %s - 1) / %s * ((%s + %s - 1) / %s))",
                                         row_bound, bm, bm, column_bound, bn, bn);
    return hone_pool_printf(
        pool, "const %s %s = blockIdx.x / %s;\nconst int64_t %s = blockIdx.x %% %s;\n",
        hone_cuda_type(c->k->in, b), b->name, tiles, tile, tiles);
}

static const char *bracket(const struct hone_cuda_kernel *k, const struct hone_c_node *expr)
{
    const char *text = hone_cuda_inline(k, expr, NULL, 0);
    bool is_name = expr->kind == HONE_C_REF || expr->kind == HONE_C_CONST;
    return text && !is_name ? hone_pool_printf(k->in->pool, "(%s)", text) : text;
}

static const char *make_body(const struct contraction *c, const char *bm, const char *bn,
                             const char *bk, const char *micro)
{
    const struct hone_coder_input *in = c->k->in;
    const char *e = hone_fresh_name(in, "e"), *tile = hone_fresh_name(in, "tile");
    const char *total = hone_fresh_name(in, "total"), *r = hone_fresh_name(in, "r"),
               *col = hone_fresh_name(in, "c");
    const char *upper = bracket(c->k, c->loop->upper);
    if (upper && c->loop->is_inclusive)
        upper = hone_pool_printf(in->pool, "(%s + 1)", upper);
    const char *row_bound = bracket(c->k, c->row->bound),
               *column_bound = bracket(c->k, c->column->bound),
               *lower = bracket(c->k, c->loop->lower);
    struct hone_cuda_sub subs[] = {{c->row->var, c->row->var->name},
                                   {c->column->var, c->column->var->name},
                                   {c->loop->var, c->loop->var->name},
                                   {c->batch ? c->batch->var : c->loop->var,
                                    c->batch ? c->batch->var->name : c->loop->var->name}};
    const char *left = hone_cuda_inline(c->k, c->left, subs, 4),
               *right = hone_cuda_inline(c->k, c->right, subs, 4);
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
        {"batch", batch_text(c, bm, bn, tile, row_bound, column_bound)},
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
        {"finish", finish_text(c, hone_pool_printf(in->pool, "%s[%s][%s]", total, r, col))},
        {NULL, NULL},
    };
#undef INDEX
    return hone_cuda_fill(in, body_text, words);
}

static const char *grid_text(const struct contraction *c, const struct hone_cuda_launch *l,
                             const char *bm, const char *bn)
{
    struct hone_pool *pool = c->k->in->pool;
    const char *rows = hone_cuda_at_launch(c->k, l, c->row->bound),
               *columns = hone_cuda_at_launch(c->k, l, c->column->bound),
               *batch = c->batch ? hone_cuda_at_launch(c->k, l, c->batch->bound) : "1";
    if (!rows || !columns || !batch)
        return NULL;
    return hone_pool_printf(pool, "(unsigned)((%s + %s - 1) / %s * ((%s + %s - 1) / %s)%s%s)", rows,
                            bm, bm, columns, bn, bn, c->batch ? " * " : "", c->batch ? batch : "");
}

static char *apply(const struct hone_coder_input *in, const struct hone_coder_site *site,
                   struct hone_err *err)
{
    const struct hone_cuda_kernel *k = hone_cuda_kernel_at(in, site->node);
    struct contraction c;
    const char *bm, *bn, *bk, *micro;
    if (!k || !read_contraction(k, &c)) {
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
        const char *grid = grid_text(&c, &k->launches[i], bm, bn);
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
