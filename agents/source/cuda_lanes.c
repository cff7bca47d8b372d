/* SPDX-License-Identifier: Apache-2.0 */
/* Loops that are dealt out to threads: recognising them, and making them of a map. */
#include <string.h>

#include "agents/source/cuda_kernel.h"

enum { MAX_ACCESSES = 64 };

static bool has_name(const struct hone_c_term *t, const char *name)
{
    for (size_t i = 0; i < t->n_factors; i++)
        if (!t->factors[i].decl && strcmp(t->factors[i].name, name) == 0)
            return true;
    return false;
}

static bool is_term(const struct hone_c_term *t, const char *name)
{
    return t->k == 1 && t->n_factors == 1 && has_name(t, name);
}

/* blockIdx.x * Z + threadIdx.x in steps of gridDim.x * Z */
static bool is_grid_deal(const struct hone_c_poly *lane, const struct hone_c_poly *step)
{
    if (!lane->is_known || !step->is_known || lane->n != 2 || step->n != 1)
        return false;
    size_t thread = is_term(&lane->terms[0], "threadIdx.x") ? 0 : 1;
    if (!is_term(&lane->terms[thread], "threadIdx.x"))
        return false;
    struct hone_c_term block = lane->terms[1 - thread];
    if (!has_name(&block, "blockIdx.x") || !has_name(&step->terms[0], "gridDim.x"))
        return false;
    for (size_t i = 0; i < block.n_factors; i++)
        if (!block.factors[i].decl && strcmp(block.factors[i].name, "blockIdx.x") == 0)
            block.factors[i].name = "gridDim.x";
    return block.k == step->terms[0].k && hone_c_same_factors(&block, &step->terms[0]);
}

/* threadIdx.x in steps of the block's size, which is a constant of all launches or blockDim.x */
static bool is_block_deal(const struct hone_cuda_kernel *k, const struct hone_c_poly *lane,
                          const char *step)
{
    if (!lane->is_known || lane->n != 1 || !is_term(&lane->terms[0], "threadIdx.x"))
        return false;
    if (strcmp(step, "blockDim.x") == 0)
        return true;
    for (size_t i = 0; i < k->n_launches; i++)
        if (strcmp(k->launches[i].block, step) != 0)
            return false;
    return true;
}

/* threadIdx.x % LANES in steps of LANES */
static bool is_part_deal(const struct hone_cuda_kernel *k, const struct hone_c_node *lane,
                         const char *step)
{
    const struct hone_c_node *init = hone_c_strip(lane->decl->last);
    if (init->kind != HONE_C_BINARY || strcmp(init->op, "%") != 0)
        return false;
    const struct hone_c_node *left = hone_c_strip(init->first);
    return left->kind == HONE_C_MEMBER && strcmp(left->name, "threadIdx.x") == 0 &&
           strcmp(hone_c_text(k->in->tree, init->last), step) == 0;
}

bool hone_cuda_read_lane_loop(const struct hone_cuda_kernel *k, const struct hone_c_loop *l,
                              struct hone_cuda_lane_loop *ret)
{
    if (!l->is_canonical || !l->declares_var || l->is_unit_step || strstr(l->var->name, "_rest"))
        return false;
    const struct hone_c_node *lower = hone_c_strip(l->lower), *lane = lower;
    *ret = (struct hone_cuda_lane_loop){.loop = l, .step = l->step};
    if (lower->kind == HONE_C_BINARY && strcmp(lower->op, "+") == 0) {
        ret->lower = lower->first;
        lane = hone_c_strip(lower->last);
    }
    if (lane->kind != HONE_C_REF || !lane->decl || lane->decl->kind != HONE_C_VAR ||
        !lane->decl->last || hone_c_writes(k->function, lane->decl))
        return false;
    struct hone_c_poly at = hone_c_poly_of(k->function, lane->decl->last),
                       step = hone_c_poly_of(k->function, l->node->inc->last);
    ret->lane = lane->name;
    return is_grid_deal(&at, &step) || is_block_deal(k, &at, l->step) ||
           is_part_deal(k, lane, l->step);
}

const struct hone_c_node *hone_cuda_loaded(const struct hone_c_node *expr)
{
    const struct hone_c_node *n = hone_c_strip(expr);
    if (n->kind == HONE_C_CALL && hone_c_n_children(n) == 2 && strstr(n->name, "2float"))
        n = hone_c_strip(n->last);
    else if (n->kind == HONE_C_CALL && strcmp(n->name, "operator float") == 0 &&
             hone_c_n_children(n) == 1 && hone_c_n_children(n->first) == 1)
        n = hone_c_strip(n->first->first);
    if (n->kind == HONE_C_CALL && hone_c_n_children(n) == 1) /* a copy of the element */
        n = hone_c_strip(n->first);
    return n->kind == HONE_C_SUBSCRIPT ? n : NULL;
}

bool hone_cuda_same_poly(const struct hone_c_poly *a, const struct hone_c_poly *b)
{
    if (!a->is_known || !b->is_known || a->n != b->n)
        return false;
    for (size_t i = 0; i < a->n; i++) {
        size_t j = 0;
        while (j < b->n &&
               !(a->terms[i].k == b->terms[j].k && hone_c_same_factors(&a->terms[i], &b->terms[j])))
            j++;
        if (j == b->n)
            return false;
    }
    return true;
}

bool hone_cuda_is_conditional(const struct hone_c_node *top, const struct hone_c_node *node)
{
    for (const struct hone_c_node *n = node; n != top; n = n->parent) {
        const struct hone_c_node *p = n->parent;
        if (!p)
            return true;
        bool is_choice =
            p->kind == HONE_C_IF || p->kind == HONE_C_CONDITIONAL ||
            (p->kind == HONE_C_BINARY && (strcmp(p->op, "&&") == 0 || strcmp(p->op, "||") == 0));
        if ((is_choice && p->first != n) || p->kind == HONE_C_FOR || p->kind == HONE_C_WHILE)
            return p != top || is_choice;
    }
    return false;
}

/* ---- maps ---- */

/* Accesses that are contiguous along the axis; 0 when one strides. */
static size_t n_along(const struct hone_cuda_kernel *k, const struct hone_cuda_axis *axis)
{
    struct hone_c_access a[MAX_ACCESSES];
    size_t n = 0;
    for (size_t s = 0; s < k->n_stmts; s++) {
        size_t m = hone_c_accesses(k->function, k->stmts[s], a, MAX_ACCESSES);
        for (size_t i = 0; i < m && i < MAX_ACCESSES; i++) {
            enum hone_c_stride stride = hone_c_poly_stride(&a[i].index, axis->var);
            if (stride == HONE_C_STRIDE_FAR)
                return 0;
            n += stride == HONE_C_STRIDE_UNIT;
        }
    }
    return n;
}

const struct hone_cuda_axis *hone_cuda_deal_axis(const struct hone_cuda_kernel *k)
{
    const struct hone_cuda_axis *best = NULL;
    size_t most = 0;
    if (!k->is_plain || k->is_single)
        return NULL;
    for (size_t i = 0; i < k->n_stmts; i++)
        for (const struct hone_c_node *n = k->stmts[i]; n; n = hone_c_walk(k->stmts[i], n))
            if (n->kind == HONE_C_FOR || n->kind == HONE_C_WHILE || n->kind == HONE_C_JUMP)
                return NULL;
    for (size_t i = 0; i < k->n_axes; i++) {
        size_t n = n_along(k, &k->axes[i]);
        if (n > most) {
            most = n;
            best = &k->axes[i];
        }
    }
    return best;
}

static const char *loop_text(const struct hone_cuda_kernel *k, const struct hone_cuda_axis *axis,
                             const char *from, const char *step)
{
    const char *bound = hone_cuda_inline(k, axis->bound, NULL, 0), *name = axis->var->name;
    return bound ? hone_pool_printf(k->in->pool, "for (%s %s = %s; %s < %s; %s += %s) {\n",
                                    hone_cuda_type(k->in, axis->var), name, from, name, bound, name,
                                    step)
                 : NULL;
}

const char *hone_cuda_deal_body(const struct hone_cuda_kernel *k, const struct hone_cuda_axis *row,
                                const char *lanes, const struct hone_c_edits *edits)
{
    struct hone_pool *pool = k->in->pool;
    const char *lane = hone_fresh_name(k->in, "lane"), *ends = "}\n";
    const char *out = hone_pool_printf(
        pool, "const int64_t %s = (int64_t)blockIdx.x * %s + threadIdx.x;\n", lane, lanes);
    char dim = 'y';
    struct hone_c_edits none;
    hone_c_edits_init(&none, k->in->tree);
    for (size_t i = 0; i < k->n_axes; i++) {
        if (&k->axes[i] == row)
            continue;
        const char *loop = loop_text(k, &k->axes[i], hone_pool_printf(pool, "blockIdx.%c", dim),
                                     hone_pool_printf(pool, "gridDim.%c", dim));
        if (!loop)
            return NULL;
        out = hone_pool_printf(pool, "%s%s", out, loop);
        ends = hone_pool_printf(pool, "%s}\n", ends);
        dim++;
    }
    const char *inner =
        loop_text(k, row, lane, hone_pool_printf(pool, "(int64_t)gridDim.x * %s", lanes));
    if (!inner)
        return NULL;
    out = hone_pool_printf(pool, "%s%s", out, inner);
    for (size_t i = 0; i < k->n_stmts; i++) {
        const struct hone_c_node *s = k->stmts[i];
        out = hone_pool_printf(
            pool, "%s%s\n", out,
            hone_c_edit_text(edits ? edits : &none, s->begin, hone_c_stmt_end(k->in->tree, s)));
    }
    return hone_pool_printf(pool, "%s%s", out, ends);
}

/* Blocks of the second and third axis have a limit; the loops go on where it is met. */
const char *hone_cuda_deal_grid(const struct hone_cuda_kernel *k, const struct hone_cuda_axis *row,
                                const struct hone_cuda_launch *l, const char *lanes,
                                const char *each)
{
    struct hone_pool *pool = k->in->pool;
    const char *grid =
        hone_cuda_blocks(k, l, row->bound, hone_pool_printf(pool, "(%s * %s)", lanes, each));
    for (size_t i = 0; grid && i < k->n_axes; i++) {
        const char *n = hone_cuda_at_launch(k, l, k->axes[i].bound);
        if (&k->axes[i] != row)
            grid = n ? hone_pool_printf(pool, "%s, (unsigned)(%s < 65535 ? %s : 65535)", grid, n, n)
                     : NULL;
    }
    return grid && k->n_axes > 1 ? hone_pool_printf(pool, "dim3(%s)", grid) : grid;
}
