/* SPDX-License-Identifier: Apache-2.0 */
/* Steps to the normal form (cuda_normal.h) for the index of a batch, which is a block's place in the
 * grid or a loop around all that a thread does:
 *
 *     A += blockIdx.z * S; ... A[i]          const float *A_at = A + (z * S); ... A_at[i]
 *     b = blockIdx.z / H; h = blockIdx.z % H; const unsigned z = blockIdx.z; b = z / H; h = z % H;
 *     for (t = 0; t < Z; t++) ...             t = blockIdx.z * blockDim.z + threadIdx.z; if (t >= Z)
 *
 * and likewise for (t = blockIdx.z; t < Z; t += gridDim.z). */
#include "agents/source/cuda_normal.h"

#include <string.h>

/* ---- a parameter that is moved ---- */

/* E of A += E and A = A + E */
static const struct hone_c_node *moved_by(const struct hone_c_node *s)
{
    bool is_set = s->kind == HONE_C_BINARY && strcmp(s->op, "=") == 0;
    const struct hone_c_node *to =
        is_set || s->kind == HONE_C_ASSIGN_OP ? hone_c_strip(s->first) : NULL;
    if (!to || to->kind != HONE_C_REF || !to->decl || to->decl->kind != HONE_C_PARAM ||
        !strchr(to->decl->type, '*'))
        return NULL;
    if (!is_set)
        return strcmp(s->op, "+=") == 0 ? s->last : NULL;
    const struct hone_c_node *sum = hone_c_strip(s->last), *of = hone_c_strip(sum->first);
    bool is_sum = sum->kind == HONE_C_BINARY && strcmp(sum->op, "+") == 0;
    return is_sum && of->kind == HONE_C_REF && of->decl == to->decl ? sum->last : NULL;
}

/* Is it written here alone, and named nowhere in front of the statement's end but as its target? */
static bool is_first_use(const struct hone_cuda_kernel *k, const struct hone_c_node *stmt,
                         const struct hone_c_node *param, const struct hone_c_node *by)
{
    for (const struct hone_c_node *n = k->function->body; n;
         n = hone_c_walk(k->function->body, n)) {
        if (n->kind != HONE_C_REF || n->decl != param)
            continue;
        if (n->begin < stmt->begin || hone_c_contains(by, n))
            return false;
    }
    for (const struct hone_c_node *s = stmt->next; s; s = s->next)
        if (hone_c_writes(s, param))
            return false;
    return true;
}

const char *hone_cuda_own_pointer(const struct hone_cuda_kernel *k)
{
    const struct hone_c_tree *t = k->in->tree;
    const struct hone_c_node *body = k->function->body;
    struct hone_c_edits edits;
    for (const struct hone_c_node *s = body->first; s; s = s->next) {
        const struct hone_c_node *by = moved_by(s);
        const struct hone_c_node *param = by ? hone_c_strip(s->first)->decl : NULL;
        if (!by || strchr(by->type, '*') || hone_cuda_has_effect(k, by) ||
            !is_first_use(k, s, param, by))
            continue;
        const char *name =
            hone_fresh_name(k->in, hone_pool_printf(k->in->pool, "%s_at", param->name));
        hone_c_edits_init(&edits, t);
        hone_c_replace(&edits, s->begin, hone_c_stmt_end(t, s),
                       hone_pool_printf(k->in->pool, "%s %s = %s + (%s);", param->type, name,
                                        param->name, hone_c_text(t, by)));
        for (const struct hone_c_node *n = s->next; n; n = n->next)
            hone_c_replace_refs(&edits, n, param, name);
        return hone_cuda_finish(&edits);
    }
    return NULL;
}

/* ---- a block's place ---- */

/* T v = blockIdx.z; is such a name already, where nothing else says blockIdx.z. */
static bool has_name(const struct hone_cuda_kernel *k, const char *member)
{
    const struct hone_c_node *body = k->function->body;
    for (const struct hone_c_node *s = body->first; s; s = s->next) {
        const struct hone_c_node *v = s->kind == HONE_C_DECL_STMT ? s->first : NULL;
        const struct hone_c_node *init =
            v && v->kind == HONE_C_VAR && v->last ? hone_c_strip(v->last) : NULL;
        if (init && init->kind == HONE_C_MEMBER && strcmp(init->name, member) == 0)
            return hone_cuda_n_members(k, "blockIdx", member[9]) == 1;
    }
    return false;
}

/* A wide index gives the compiler fewer registers to spill; where it is neither multiplied nor
 * divided nor added to, unsigned arithmetic could differ from it. */
static const char *type_for(const struct hone_c_node *body, const char *member)
{
    for (const struct hone_c_node *n = body; n; n = hone_c_walk(body, n)) {
        const struct hone_c_node *p = n->parent;
        while (p->kind == HONE_C_PAREN || p->kind == HONE_C_CAST)
            p = p->parent;
        if (n->kind != HONE_C_MEMBER || strcmp(n->name, member) != 0 || p->kind == HONE_C_VAR)
            continue;
        bool is_same = (p->kind == HONE_C_BINARY || p->kind == HONE_C_ASSIGN_OP) && p->op[0] &&
                       strchr("*/%+", p->op[0]);
        if (!is_same)
            return "unsigned";
    }
    return "int64_t";
}

const char *hone_cuda_name_block(const struct hone_cuda_kernel *k)
{
    const struct hone_c_node *body = k->function->body;
    struct hone_c_edits edits;
    for (const char *dim = "yz"; *dim; dim++) {
        const char *member = hone_pool_printf(k->in->pool, "blockIdx.%c", *dim);
        if (hone_cuda_n_members(k, "blockIdx", *dim) == 0 ||
            hone_cuda_n_members(k, "threadIdx", *dim) > 0 ||
            hone_cuda_n_members(k, "blockDim", *dim) > 0 ||
            hone_cuda_n_members(k, "gridDim", *dim) > 0 || has_name(k, member) ||
            body->kind != HONE_C_COMPOUND || !hone_cuda_may_relaunch(k, body->first))
            continue;
        const char *name = hone_fresh_name(k->in, *dim == 'y' ? "block_y" : "block_z");
        hone_c_edits_init(&edits, k->in->tree);
        hone_c_replace(&edits, body->begin + 1, body->begin + 1,
                       hone_pool_printf(k->in->pool, "\n    const %s %s = %s;",
                                        type_for(body, member), name, member));
        for (const struct hone_c_node *n = body; n; n = hone_c_walk(body, n))
            if (n->kind == HONE_C_MEMBER && strcmp(n->name, member) == 0)
                hone_c_replace(&edits, n->begin, n->end, name);
        return hone_cuda_finish(&edits);
    }
    return NULL;
}

/* ---- a loop over the batch ---- */

static bool is_zero(const struct hone_c_node *n)
{
    n = hone_c_strip(n);
    return n->kind == HONE_C_CONST && strcmp(n->name, "0") == 0;
}

static bool has_loop(const struct hone_c_node *top)
{
    for (const struct hone_c_node *n = top; n; n = hone_c_walk(top, n))
        if (n->kind == HONE_C_FOR)
            return true;
    return false;
}

static bool is_member(const struct hone_c_node *n, const char *name)
{
    n = n ? hone_c_strip(n) : NULL;
    return n && n->kind == HONE_C_MEMBER && strcmp(n->name, name) == 0;
}

/* for (t = 0; t < Z; t++) around a sum, or for (t = blockIdx.z; t < Z; t += gridDim.z) */
static bool is_over_batch(const struct hone_cuda_kernel *k, const struct hone_c_loop *l)
{
    if (l->is_unit_step)
        return k->is_plain && is_zero(l->lower) && has_loop(l->node->body);
    return is_member(l->lower, "blockIdx.z") && is_member(l->node->inc->last, "gridDim.z") &&
           hone_cuda_n_places(l->node) == 2;
}

/* The one statement of a kernel with two axes: turns that have nothing to do with each other. */
static const struct hone_c_loop *batch_loop(const struct hone_cuda_kernel *k)
{
    const char *why;
    const struct hone_c_node *s = k->n_stmts == 1 ? k->stmts[0] : NULL;
    if (k->n_axes != 2 || !s || s->kind != HONE_C_FOR || s->parent->kind != HONE_C_COMPOUND ||
        !hone_cuda_may_regrid(k, s))
        return NULL;
    const struct hone_c_loop *l = hone_c_loop_of(&k->nest, s);
    bool is_open = l && l->is_canonical && !l->is_inclusive && l->declares_var &&
                   is_over_batch(k, l) && !hone_c_writes_scalar(l) &&
                   hone_c_is_parallel(&k->nest, l, &why);
    for (size_t i = 0; i < k->n_axes; i++)
        is_open = is_open && k->axes[i].bound && k->axes[i].dim != 'z' &&
                  !hone_cuda_depends(k, l->upper, k->axes[i].var);
    return is_open ? l : NULL;
}

const char *hone_cuda_open_batch(const struct hone_cuda_kernel *k)
{
    struct hone_pool *pool = k->in->pool;
    const struct hone_c_loop *l = batch_loop(k);
    struct hone_c_edits edits;
    if (!l)
        return NULL;
    hone_c_edits_init(&edits, k->in->tree);
    hone_c_replace(&edits, l->node->begin, hone_c_stmt_end(k->in->tree, l->node),
                   hone_pool_printf(
                       pool,
                       "%s %s = (int64_t)blockIdx.z * blockDim.z + threadIdx.z;\n    if (%s >= "
                       "%s)\n        return;\n%s",
                       hone_cuda_type(k->in, l->var), l->var->name, l->var->name,
                       hone_c_text(k->in->tree, l->upper), hone_cuda_body(&edits, l->node->body)));
    for (size_t i = 0; i < k->n_launches; i++) {
        const struct hone_cuda_launch *at = &k->launches[i];
        const char *grid[3], *block[3], *n = hone_cuda_at_launch(k, at, l->upper);
        if (!n || !hone_cuda_read_dims(k, at, at->grid, grid) ||
            !hone_cuda_read_dims(k, at, at->block, block) || strcmp(block[2], "1") != 0 ||
            (l->is_unit_step && strcmp(grid[2], "1") != 0))
            return NULL;
        hone_cuda_set_launch(
            &edits, at, hone_pool_printf(pool, "dim3(%s, %s, (unsigned)(%s))", grid[0], grid[1], n),
            hone_pool_printf(pool, "dim3(%s, %s)", block[0], block[1]), at->shared);
    }
    hone_cuda_drop_unused(&edits, k);
    return hone_cuda_finish(&edits);
}
