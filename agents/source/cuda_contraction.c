/* SPDX-License-Identifier: Apache-2.0 */
/* Reading contractions and batches of them, and the text that their tilings share.
 *
 * Flow: read_sum finds the one loop and its product; read_axes says which index is the row, which
 * the column and which the batch's, and that no bound depends on one; stores_are_apart that no two
 * threads store to one element; read_held what a block may say once. Text of the kernel that goes
 * into a tile keeps the names of all of these, and locals that are set once give way to what they
 * are made of. The last part splits k over blocks, for tiles that are few: text for the tile's
 * kernel, for a second one that adds up, and for the launcher. Limits: three axes, HONE_CUDA_MAX_HELD declarations that are held, MAX_ACCESSES
 * accesses in a statement. */
#include "agents/source/cuda_contraction.h"

#include <string.h>

#include "agents/source/cuda_normal.h"

enum { MAX_ACCESSES = 32 };

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
static bool read_update(struct hone_cuda_contraction *c)
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

/* Which one does not matter for the sum: the others are the batch. */
static const struct hone_cuda_axis *axis_by(const struct hone_cuda_kernel *k,
                                            const struct hone_c_node *expr,
                                            const struct hone_c_node *other)
{
    const struct hone_cuda_axis *found = NULL;
    for (size_t i = 0; i < k->n_axes; i++) {
        const struct hone_c_node *v = k->axes[i].var;
        if (!hone_cuda_depends(k, expr, v) || hone_cuda_depends(k, other, v))
            continue;
        if (!found || found->dim == 'z') /* z is the batch where two would do */
            found = &k->axes[i];
    }
    return found;
}

static bool is_unit(const struct hone_cuda_contraction *c, const struct hone_c_node *expr,
                    const struct hone_c_node *var)
{
    struct hone_c_access a[4];
    size_t n = hone_c_accesses(c->k->function, expr, a, HONE_COUNTOF(a));
    return n > 0 && hone_c_poly_stride(&a[0].index, var) == HONE_C_STRIDE_UNIT;
}

/* Does some store run along the axis? */
static bool is_stored_along(const struct hone_cuda_contraction *c,
                            const struct hone_cuda_axis *axis)
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

/* The same for all elements of all products */
static bool is_free(const struct hone_cuda_contraction *c, const struct hone_c_node *bound)
{
    for (size_t i = 0; i < c->k->n_axes; i++)
        if (hone_cuda_depends(c->k, bound, c->k->axes[i].var))
            return false;
    return true;
}

static bool read_axes(struct hone_cuda_contraction *c)
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
    return is_free(c, c->loop->lower) && is_free(c, c->loop->upper) && is_free(c, c->row->bound) &&
           is_free(c, c->column->bound) && (!c->batch || is_free(c, c->batch->bound));
}

/* ---- stores ---- */

/* Does the index, or a condition around it, tell the axis' elements apart? */
static bool tells(const struct hone_cuda_kernel *k, const struct hone_c_node *store,
                  const struct hone_c_node *var)
{
    if (hone_cuda_depends(k, store, var))
        return true;
    for (const struct hone_c_node *n = store; n && n != k->function; n = n->parent) {
        bool is_guard = n->parent && n->parent->kind == HONE_C_IF && n->parent->first != n &&
                        !hone_c_contains(n, k->stmts[0]);
        if (is_guard && hone_cuda_depends(k, n->parent->first, var))
            return true;
    }
    return false;
}

/* An array of the thread's own */
static bool is_own(const struct hone_cuda_kernel *k, const struct hone_c_node *root)
{
    return root && root->kind == HONE_C_VAR && strchr(root->type, '[') &&
           hone_c_contains(k->function, root) && !(root->cuda & HONE_C_IS_SHARED);
}

/* Two threads that store to one element race, and a factor that changes is no factor. */
static bool stores_are_apart(const struct hone_cuda_contraction *c)
{
    const struct hone_cuda_kernel *k = c->k;
    for (size_t s = 0; s < k->n_stmts; s++) {
        struct hone_c_access a[MAX_ACCESSES];
        size_t n = hone_c_accesses(k->function, k->stmts[s], a, MAX_ACCESSES);
        if (n > MAX_ACCESSES)
            return false;
        for (size_t i = 0; i < n; i++) {
            if (!a[i].is_write || is_own(k, a[i].root))
                continue;
            if (a[i].root && (hone_cuda_depends(k, c->left, a[i].root) ||
                              hone_cuda_depends(k, c->right, a[i].root)))
                return false;
            for (size_t x = 0; x < k->n_axes; x++)
                if (!tells(k, a[i].node, k->axes[x].var))
                    return false;
        }
    }
    return true;
}

/* ---- what is held ---- */

static bool is_written(const struct hone_cuda_kernel *k, const struct hone_c_node *root)
{
    for (size_t s = 0; s < k->n_stmts; s++) {
        struct hone_c_access a[MAX_ACCESSES];
        size_t n = hone_c_accesses(k->function, k->stmts[s], a, MAX_ACCESSES);
        for (size_t i = 0; i < n && i < MAX_ACCESSES; i++)
            if (a[i].is_write && (!a[i].root || a[i].root == root))
                return true;
    }
    return false;
}

/* A local that is set once, to the same value for all elements of a product. */
static bool is_held(const struct hone_cuda_contraction *c, const struct hone_c_node *v)
{
    struct hone_c_access a[MAX_ACCESSES];
    const struct hone_cuda_kernel *k = c->k;
    if (v->kind != HONE_C_VAR || !v->last || strchr(v->type, '[') ||
        hone_c_writes(k->function, v) || hone_cuda_depends(k, v->last, c->row->var) ||
        hone_cuda_depends(k, v->last, c->column->var) || hone_cuda_has_effect(k, v->last) ||
        !hone_cuda_inline(k, v->last, NULL, 0))
        return false;
    size_t n = hone_c_accesses(k->function, v->last, a, MAX_ACCESSES);
    for (size_t i = 0; i < n; i++)
        if (i == MAX_ACCESSES || !a[i].root || is_written(k, a[i].root))
            return false;
    return true;
}

static void read_held(struct hone_cuda_contraction *c)
{
    size_t n_names = 0;
    for (size_t i = 0; i < c->k->n_stmts && c->k->stmts[i] != c->loop->node; i++) {
        const struct hone_c_node *s = c->k->stmts[i];
        bool is_all = s->kind == HONE_C_DECL_STMT && c->n_held < HONE_CUDA_MAX_HELD;
        size_t n = 0;
        for (const struct hone_c_node *v = s->first; is_all && v; v = v->next, n++)
            is_all = is_held(c, v);
        if (!is_all || n_names + n > HONE_CUDA_MAX_SUBS - 4)
            continue;
        n_names += n;
        c->held[c->n_held++] = s;
    }
}

size_t hone_cuda_contraction_subs(const struct hone_cuda_contraction *c,
                                  struct hone_cuda_sub ret[HONE_CUDA_MAX_SUBS])
{
    const struct hone_c_node *own[] = {c->row->var, c->column->var, c->loop->var,
                                       c->batch ? c->batch->var : NULL};
    size_t n = 0;
    for (size_t i = 0; i < HONE_COUNTOF(own); i++)
        if (own[i])
            ret[n++] = (struct hone_cuda_sub){own[i], own[i]->name};
    for (size_t i = 0; i < c->n_held; i++)
        for (const struct hone_c_node *v = c->held[i]->first; v; v = v->next)
            ret[n++] = (struct hone_cuda_sub){v, v->name};
    return n;
}

/* Has it one value for a whole product, under this name? */
static bool is_of_product(const struct hone_cuda_contraction *c, const struct hone_c_factor *f)
{
    struct hone_cuda_sub subs[HONE_CUDA_MAX_SUBS];
    size_t n = hone_cuda_contraction_subs(c, subs);
    const struct hone_c_node *d = f->decl;
    if (d && d->kind == HONE_C_PARAM)
        return true;
    for (size_t i = 0; d && i < n; i++)
        if (subs[i].decl == d)
            return d != c->row->var && d != c->column->var && d != c->loop->var;
    return false;
}

const char *hone_cuda_contraction_pitch(const struct hone_cuda_contraction *c,
                                        const struct hone_c_poly *index,
                                        const struct hone_c_node *var)
{
    struct hone_pool *pool = c->k->in->pool;
    const char *out = "";
    for (size_t i = 0; i < index->n; i++) {
        const struct hone_c_term *t = &index->terms[i];
        size_t n_var = 0;
        for (size_t f = 0; f < t->n_factors; f++)
            n_var += t->factors[f].decl == var;
        if (n_var == 0)
            continue;
        const char *term = hone_pool_printf(pool, "(int64_t)%lld", (long long)t->k);
        for (size_t f = 0; f < t->n_factors; f++) {
            if (t->factors[f].decl == var)
                continue;
            if (!is_of_product(c, &t->factors[f]))
                return NULL;
            term = t->n_factors == 2 && t->k == 1
                       ? hone_pool_printf(pool, "(int64_t)%s", t->factors[f].name)
                       : hone_pool_printf(pool, "%s * %s", term, t->factors[f].name);
        }
        if (n_var > 1)
            return NULL;
        out = *out ? hone_pool_printf(pool, "%s + %s", out, term) : term;
    }
    return index->is_known && *out ? out : NULL;
}

static const char *stmt_text(const struct hone_cuda_kernel *k, const struct hone_c_node *s)
{
    return hone_pool_printf(k->in->pool, "%.*s\n",
                            (int)(hone_c_stmt_end(k->in->tree, s) - s->begin),
                            k->in->tree->source + s->begin);
}

/* A parameter that changes stands for two values. */
static bool keeps_params(const struct hone_cuda_kernel *k)
{
    for (size_t i = 0; i < k->n_params; i++)
        if (hone_c_writes(k->function, k->params[i]))
            return false;
    return true;
}

static bool read_sum(const struct hone_cuda_kernel *k, struct hone_cuda_contraction *c)
{
    const struct hone_c_node *loop = only_loop(k);
    *c = (struct hone_cuda_contraction){.k = k};
    c->loop = loop ? hone_c_loop_of(&k->nest, loop) : NULL;
    return c->loop && c->loop->is_canonical && c->loop->is_unit_step && c->loop->declares_var &&
           read_update(c);
}

bool hone_cuda_sums_products(const struct hone_cuda_kernel *k)
{
    struct hone_cuda_contraction c;
    return read_sum(k, &c);
}

bool hone_cuda_read_contraction(const struct hone_cuda_kernel *k, struct hone_cuda_contraction *c)
{
    if (!k->is_plain || k->n_axes < 2 || !keeps_params(k) || !read_sum(k, c) ||
        !hone_cuda_depends(k, c->left, c->loop->var) ||
        !hone_cuda_depends(k, c->right, c->loop->var) || !read_axes(c) || !stores_are_apart(c))
        return false;
    if (strcmp(c->acc->type, "float") != 0 && strcmp(c->acc->type, "double") != 0 &&
        strcmp(c->acc->type, "int") != 0)
        return false;
    c->left_along_k = is_unit(c, c->left, c->loop->var);
    c->right_along_k = is_unit(c, c->right, c->loop->var);
    read_held(c);
    struct hone_cuda_sub sub = {c->loop->var, "k"};
    return hone_cuda_inline(k, c->left, &sub, 1) && hone_cuda_inline(k, c->right, &sub, 1);
}

static bool holds(const struct hone_cuda_contraction *c, const struct hone_c_node *stmt)
{
    for (size_t i = 0; i < c->n_held; i++)
        if (c->held[i] == stmt)
            return true;
    return false;
}

/* The statements around the loop, which itself gives way to a text. */
static const char *around_loop(const struct hone_cuda_contraction *c, const char *text)
{
    HONE_CLEANUP(hone_buf_done) struct hone_buf out = HONE_BUF_INIT;
    for (size_t i = 0; i < c->k->n_stmts; i++) {
        const struct hone_c_node *s = c->k->stmts[i];
        if (s == c->loop->node)
            hone_buf_str(&out, text);
        else if (!holds(c, s))
            hone_buf_str(&out, stmt_text(c->k, s));
    }
    return hone_pool_strdup(c->k->in->pool, out.data ? out.data : "");
}

const char *hone_cuda_contraction_finish(const struct hone_cuda_contraction *c, const char *total)
{
    return around_loop(c, hone_pool_printf(c->k->in->pool, "%s += %s;\n", c->acc->name, total));
}

const char *hone_cuda_bracket(const struct hone_cuda_kernel *k, const struct hone_c_node *expr)
{
    const char *text = hone_cuda_inline(k, expr, NULL, 0);
    bool is_name = expr->kind == HONE_C_REF || expr->kind == HONE_C_CONST;
    return text && !is_name ? hone_pool_printf(k->in->pool, "(%s)", text) : text;
}

static const char *place_text(const struct hone_cuda_contraction *c, const char *bm, const char *bn,
                              const char *tile)
{
    struct hone_pool *pool = c->k->in->pool;
    const struct hone_c_node *b = c->batch ? c->batch->var : NULL;
    const char *row_bound = hone_cuda_bracket(c->k, c->row->bound),
               *column_bound = hone_cuda_bracket(c->k, c->column->bound);
    if (!b || !row_bound || !column_bound)
        return hone_pool_printf(pool, "const int64_t %s = blockIdx.x;\n", tile);
    const char *tiles = hone_pool_printf(pool, "((%s + %s - 1) / %s * ((%s + %s - 1) / %s))",
                                         row_bound, bm, bm, column_bound, bn, bn);
    return hone_pool_printf(
        pool, "const %s %s = blockIdx.x / %s;\nconst int64_t %s = blockIdx.x %% %s;\n",
        hone_cuda_type(c->k->in, b), b->name, tiles, tile, tiles);
}

const char *hone_cuda_contraction_batch(const struct hone_cuda_contraction *c, const char *bm,
                                        const char *bn, const char *tile)
{
    const char *out = place_text(c, bm, bn, tile);
    for (size_t i = 0; i < c->n_held; i++)
        out = hone_pool_printf(c->k->in->pool, "%s%s", out, stmt_text(c->k, c->held[i]));
    return out;
}

const char *hone_cuda_contraction_grid(const struct hone_cuda_contraction *c,
                                       const struct hone_cuda_launch *l, const char *bm,
                                       const char *bn)
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

/* ---- sums in parts ---- */

static const char *at_launch(const struct hone_cuda_contraction *c,
                             const struct hone_cuda_launch *l, const struct hone_c_node *expr)
{
    return hone_cuda_at_launch(c->k, l, expr);
}

struct hone_cuda_split hone_cuda_split_of(const struct hone_cuda_contraction *c)
{
    const struct hone_coder_input *in = c->k->in;
    const char *name = c->k->function->name;
    bool is_known = !(c->k->function->cuda & HONE_C_IS_TEMPLATE) && c->k->n_params > 0;
    for (size_t i = 0; i < c->k->n_launches; i++) {
        const struct hone_cuda_launch *l = &c->k->launches[i];
        is_known = is_known && l->call->parent->kind == HONE_C_COMPOUND &&
                   in->tree->source[l->call->end - 1] == ')' && at_launch(c, l, c->loop->lower) &&
                   at_launch(c, l, c->loop->upper);
    }
    if (!is_known)
        return (struct hone_cuda_split){NULL};
    return (struct hone_cuda_split){
        .parts = hone_fresh_name(in, "parts"),
        .total = hone_fresh_name(in, hone_pool_printf(in->pool, "%s_total", name)),
        .count = hone_fresh_name(in, hone_pool_printf(in->pool, "%s_parts", name))};
}

const char *hone_cuda_split_param(const struct hone_cuda_contraction *c,
                                  const struct hone_cuda_split *s)
{
    return s->parts ? hone_pool_printf(c->k->in->pool, "%s *%s", c->acc->type, s->parts) : "";
}

/* How many there are, in 64 bits */
static const char *sums_text(const struct hone_cuda_contraction *c)
{
    const char *out =
        hone_pool_printf(c->k->in->pool, "(int64_t)%s * %s", hone_cuda_bracket(c->k, c->row->bound),
                         hone_cuda_bracket(c->k, c->column->bound));
    return c->batch ? hone_pool_printf(c->k->in->pool, "%s * %s", out,
                                       hone_cuda_bracket(c->k, c->batch->bound))
                    : out;
}

/* Which row of all products it is */
static const char *line_text(const struct hone_cuda_contraction *c)
{
    const char *row = c->row->var->name;
    return c->batch
               ? hone_pool_printf(c->k->in->pool, "(%s * (int64_t)%s + %s)", c->batch->var->name,
                                  hone_cuda_bracket(c->k, c->row->bound), row)
               : hone_pool_printf(c->k->in->pool, "(int64_t)%s", row);
}

const char *hone_cuda_split_finish(const struct hone_cuda_contraction *c,
                                   const struct hone_cuda_split *s, const char *total)
{
    struct hone_pool *pool = c->k->in->pool;
    const char *whole = hone_cuda_contraction_finish(c, total);
    if (!s->parts)
        return whole;
    const char *columns = hone_cuda_bracket(c->k, c->column->bound);
    return hone_pool_printf(pool,
                            "if (gridDim.y > 1) {\n%s[blockIdx.y * (%s) + %s * %s + %s] = %s;\n"
                            "} else {\n%s}\n",
                            s->parts, sums_text(c), line_text(c), columns, c->column->var->name,
                            total, whole);
}

static const char count_text[] =
    "/* How many blocks share a tile's sums: as many as there are processors for, with four steps "
    "each. 0: so little is to do that no tile pays. */\n"
    "static int64_t @count@(int64_t n_blocks, int64_t n_k, int64_t step, int64_t n_sums)\n"
    "{\n"
    "    int device = 0, n_processors = 1;\n"
    "    cudaGetDevice(&device);\n"
    "    cudaDeviceGetAttribute(&n_processors, cudaDevAttrMultiProcessorCount, device);\n"
    "    const int64_t n = n_blocks > 0 ? n_processors / n_blocks : 1, most = (n_k + step - 1) / "
    "step / 4;\n"
    "    if (n_k <= 256 && n_sums * n_k <= 1 << 24)\n"
    "        return 0;\n"
    "    return n < 1 || most < 1 ? 1 : n < most ? n : most;\n"
    "}\n\n";

/* Blocks of 16 x 16 elements: neither factor is read line by line alone. */
static const char total_text[] =
    "const int64_t @n_across@ = (@columns@ + 15) / 16, @n_down@ = (@rows@ + 15) / 16;\n"
    "@batch@"
    "const @row_type@ @row@ = blockIdx.x / @n_across@ % @n_down@ * 16 + threadIdx.x / 16;\n"
    "const @column_type@ @column@ = blockIdx.x % @n_across@ * 16 + threadIdx.x % 16;\n"
    "if (@row@ >= @rows@ || @column@ >= @columns@)\n"
    "return;\n"
    "@held@"
    "const int64_t @n@ = @n_sums@, @at@ = @line@ * @columns@ + @column@;\n"
    "@acc@ @sum@ = 0;\n"
    "for (int @p@ = 0; @p@ < @n_parts@; @p@++)\n"
    "@sum@ += @parts@[@p@ * @n@ + @at@];\n"
    "@finish@";

static const char *total_body(const struct hone_cuda_contraction *c, const char *parts,
                              const char *n_parts)
{
    const struct hone_coder_input *in = c->k->in;
    const char *across = hone_fresh_name(in, "n_across"), *down = hone_fresh_name(in, "n_down"),
               *sum = hone_fresh_name(in, "total"), *held = "";
    for (size_t i = 0; i < c->n_held; i++)
        held = hone_pool_printf(in->pool, "%s%s", held, stmt_text(c->k, c->held[i]));
    const char *in_place =
        hone_pool_printf(in->pool, "if (%s == 0) {\n%s} else {\n%s += %s;\n}\n", n_parts,
                         stmt_text(c->k, c->loop->node), c->acc->name, sum);
    const struct hone_cuda_word words[] = {
        {"n_across", across},
        {"n_down", down},
        {"n_sums", sums_text(c)},
        {"line", line_text(c)},
        {"batch", c->batch ? hone_pool_printf(in->pool, "const %s %s = blockIdx.x / (%s * %s);\n",
                                              hone_cuda_type(in, c->batch->var),
                                              c->batch->var->name, across, down)
                           : ""},
        {"row", c->row->var->name},
        {"row_type", hone_cuda_type(in, c->row->var)},
        {"rows", hone_cuda_bracket(c->k, c->row->bound)},
        {"column", c->column->var->name},
        {"column_type", hone_cuda_type(in, c->column->var)},
        {"columns", hone_cuda_bracket(c->k, c->column->bound)},
        {"held", held},
        {"acc", c->acc->type},
        {"sum", sum},
        {"parts", parts},
        {"n_parts", n_parts},
        {"finish", around_loop(c, in_place)},
        {NULL, NULL},
    };
    return hone_cuda_trim(
        in, hone_c_layout(in->pool, hone_pool_printf(in->pool, "{\n%s}",
                                                     hone_cuda_fill(in, total_text, words))));
}

const char *hone_cuda_split_kernel(const struct hone_cuda_contraction *c,
                                   const struct hone_cuda_split *s)
{
    const struct hone_coder_input *in = c->k->in;
    const struct hone_cuda_word words[] = {{"count", s->count}, {NULL, NULL}};
    if (!s->parts)
        return "";
    const char *n_parts = hone_fresh_name(in, "n_parts");
    const char *params =
        hone_pool_strndup(in->pool, in->tree->source + c->k->params[0]->begin,
                          c->k->params[c->k->n_params - 1]->end - c->k->params[0]->begin);
    return hone_pool_printf(
        in->pool,
        "%s/* Adds up the parts of each sum; without parts the sum is made here. */\n"
        "__global__ void __launch_bounds__(256) %s(%s, const %s *%s, int %s)\n%s\n\n",
        hone_cuda_fill_some(in, count_text, words), s->total, params, c->acc->type, s->parts,
        n_parts, total_body(c, s->parts, n_parts));
}

static const char *arguments(const struct hone_cuda_contraction *c,
                             const struct hone_cuda_launch *l)
{
    const char *out = "";
    for (size_t i = 0; i < l->n_args; i++)
        out = hone_pool_printf(c->k->in->pool, "%s%s, ", out,
                               hone_c_text(c->k->in->tree, l->args[i]));
    return out;
}

static const char before_text[] =
    "const int64_t @n_blocks@ = @grid@, @n_sums@ = (int64_t)(@rows@) * (@columns@)@batch@;\n"
    "const int64_t @n_parts@ = @count@(@n_blocks@, (@upper@)@one@ - (@lower@), @bk@, @n_sums@);\n"
    "@acc@ *@scratch@ = nullptr;\n"
    "if (@n_parts@ > 1)\n"
    "    cudaMallocAsync((void **)&@scratch@, @n_parts@ * @n_sums@ * sizeof(@acc@), @stream@);\n"
    "if (@n_parts@ > 0) {\n"
    "    ";
static const char after_text[] =
    "\n"
    "}\n"
    "if (@n_parts@ != 1) {\n"
    "    @total@<<<(unsigned)(((@rows@) + 15) / 16 * (((@columns@) + 15) / 16)@batch@), 256, 0, "
    "@stream@>>>(@arguments@@scratch@, (int)@n_parts@);\n"
    "}\n"
    "if (@n_parts@ > 1)\n"
    "    cudaFreeAsync(@scratch@, @stream@);";

/* The text's lines at a depth, the first one's apart. */
static const char *indented(const char *text, const char *indent, struct hone_pool *pool)
{
    const char *out = "";
    for (const char *end; (end = strchr(text, '\n')) != NULL; text = end + 1)
        out = hone_pool_printf(pool, "%s%.*s\n%s", out, (int)(end - text), text, indent);
    return hone_pool_printf(pool, "%s%s", out, text);
}

void hone_cuda_split_launch(struct hone_c_edits *edits, const struct hone_cuda_contraction *c,
                            const struct hone_cuda_split *s, const struct hone_cuda_launch *l,
                            const char *grid, const char *block, const char *shared, const char *bk)
{
    const struct hone_coder_input *in = c->k->in;
    struct hone_pool *pool = in->pool;
    if (!s->parts) {
        hone_cuda_set_launch(edits, l, grid, block, shared);
        return;
    }
    const char *n_blocks = hone_fresh_name(in, "n_blocks"),
               *n_parts = hone_fresh_name(in, "n_parts"),
               *indent = hone_c_indent(in->tree, l->call->begin);
    const struct hone_cuda_word words[] = {
        {"n_blocks", n_blocks},
        {"n_parts", n_parts},
        {"n_sums", hone_fresh_name(in, "n_sums")},
        {"scratch", s->parts},
        {"grid", grid},
        {"rows", at_launch(c, l, c->row->bound)},
        {"columns", at_launch(c, l, c->column->bound)},
        {"batch",
         c->batch ? hone_pool_printf(pool, " * (%s)", at_launch(c, l, c->batch->bound)) : ""},
        {"count", s->count},
        {"upper", at_launch(c, l, c->loop->upper)},
        {"one", c->loop->is_inclusive ? " + 1" : ""},
        {"lower", at_launch(c, l, c->loop->lower)},
        {"bk", bk},
        {"acc", c->acc->type},
        {"stream", l->stream},
        {"total", s->total},
        {"arguments", arguments(c, l)},
        {NULL, NULL},
    };
    uint32_t begin = l->call->begin, close = l->call->end - 1,
             end = hone_c_stmt_end(in->tree, l->call);
    hone_c_replace(edits, begin, begin,
                   indented(hone_cuda_fill_some(in, before_text, words), indent, pool));
    hone_cuda_set_launch(
        edits, l, hone_pool_printf(pool, "dim3((unsigned)%s, (unsigned)%s)", n_blocks, n_parts),
        block, shared);
    hone_c_replace(edits, close, close, hone_pool_printf(pool, ", %s", s->parts));
    hone_c_replace(edits, end, end,
                   indented(hone_cuda_fill_some(in, after_text, words), indent, pool));
}
