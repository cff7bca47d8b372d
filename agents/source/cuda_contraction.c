/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/source/cuda_contraction.h"

#include <string.h>

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
    const struct hone_c_node *row = c->row->var, *column = c->column->var;
    const struct hone_c_node *bounds[] = {c->loop->lower, c->loop->upper};
    for (size_t i = 0; i < HONE_COUNTOF(bounds); i++)
        if (hone_cuda_depends(c->k, bounds[i], row) || hone_cuda_depends(c->k, bounds[i], column))
            return false;
    return true;
}

bool hone_cuda_read_contraction(const struct hone_cuda_kernel *k, struct hone_cuda_contraction *c)
{
    *c = (struct hone_cuda_contraction){.k = k};
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

/* The statements around the loop, which itself gives way to adding the total. */
const char *hone_cuda_contraction_finish(const struct hone_cuda_contraction *c, const char *total)
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

const char *hone_cuda_bracket(const struct hone_cuda_kernel *k, const struct hone_c_node *expr)
{
    const char *text = hone_cuda_inline(k, expr, NULL, 0);
    bool is_name = expr->kind == HONE_C_REF || expr->kind == HONE_C_CONST;
    return text && !is_name ? hone_pool_printf(k->in->pool, "(%s)", text) : text;
}

const char *hone_cuda_contraction_batch(const struct hone_cuda_contraction *c, const char *bm,
                                        const char *bn, const char *tile)
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
