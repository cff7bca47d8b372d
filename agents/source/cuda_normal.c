/* SPDX-License-Identifier: Apache-2.0 */
/* Steps to the normal form of kernels (cuda_normal.h). The one for flat indices is in cuda_flat.c. */
#include "agents/source/cuda_normal.h"

#include <string.h>

enum { MAX_ACCESSES = 32 };

static const char *finish(const struct hone_c_edits *edits, const struct hone_cuda_kernel *k)
{
    struct hone_c_edits all = *edits;
    hone_cuda_drop_unused(&all, k);
    return hone_cuda_finish(&all);
}

/* The value of a local that is set once; else the expression itself. */
static const struct hone_c_node *value_of(const struct hone_cuda_kernel *k,
                                          const struct hone_c_node *expr)
{
    const struct hone_c_node *n = hone_c_strip(expr);
    bool is_local = n && n->kind == HONE_C_REF && n->decl && n->decl->kind == HONE_C_VAR &&
                    n->decl->last && hone_c_contains(k->function, n->decl) &&
                    !hone_c_writes(k->function, n->decl);
    return is_local ? n->decl->last : expr;
}

size_t hone_cuda_n_members(const struct hone_cuda_kernel *k, const char *name, char dim)
{
    size_t n = 0, len = strlen(name);
    for (const struct hone_c_node *at = k->function->body; at;
         at = hone_c_walk(k->function->body, at))
        n += at->kind == HONE_C_MEMBER && strncmp(at->name, name, len) == 0 &&
             at->name[len] == '.' && at->name[len + 1] == dim;
    return n;
}

static size_t n_refs(const struct hone_c_node *top, const struct hone_c_node *decl)
{
    size_t n = 0;
    for (const struct hone_c_node *at = top; at; at = hone_c_walk(top, at))
        n += at->kind == HONE_C_REF && at->decl == decl;
    return n;
}

static const struct hone_c_node *only_var(const struct hone_c_node *stmt)
{
    const struct hone_c_node *v = stmt->kind == HONE_C_DECL_STMT ? stmt->first : NULL;
    return v && v == stmt->last && v->kind == HONE_C_VAR && v->last ? v : NULL;
}

static void delete_stmt(struct hone_c_edits *edits, const struct hone_c_node *stmt)
{
    hone_c_replace(edits, stmt->begin, hone_c_stmt_end(edits->tree, stmt), "");
}

/* ---- a loop that strides over the grid ---- */

static bool has_jump(const struct hone_c_node *top)
{
    for (const struct hone_c_node *n = top; n; n = hone_c_walk(top, n))
        if (n->kind == HONE_C_JUMP)
            return true;
    return false;
}

/* blockIdx.x * blockDim.x + threadIdx.x in steps of gridDim.x * blockDim.x */
static bool is_grid_loop(const struct hone_cuda_kernel *k, const struct hone_c_loop *l)
{
    if (!l || !l->is_canonical || l->is_inclusive || !l->declares_var || !l->node->inc ||
        has_jump(l->node->body))
        return false;
    struct hone_c_poly at = hone_c_poly_of(k->function, value_of(k, l->lower)),
                       step = hone_c_poly_of(k->function, l->node->inc->last);
    if (!step.is_known || step.n != 1 || step.terms[0].k != 1 || step.terms[0].n_factors != 2)
        return false;
    const char *a = step.terms[0].factors[0].name, *b = step.terms[0].factors[1].name;
    return hone_cuda_is_place(&at, 'x') &&
           ((strcmp(a, "gridDim.x") == 0 && strcmp(b, "blockDim.x") == 0) ||
            (strcmp(b, "gridDim.x") == 0 && strcmp(a, "blockDim.x") == 0));
}

static const char *open_grid_loop(const struct hone_cuda_kernel *k)
{
    struct hone_pool *pool = k->in->pool;
    const struct hone_c_node *f = k->n_stmts > 0 ? k->stmts[k->n_stmts - 1] : NULL;
    const struct hone_c_loop *l = f && f->kind == HONE_C_FOR ? hone_c_loop_of(&k->nest, f) : NULL;
    struct hone_c_edits edits;
    if (!is_grid_loop(k, l) || f->parent != k->function->body)
        return NULL;
    const char *lower = hone_cuda_inline(k, l->lower, NULL, 0);
    size_t n_places = hone_cuda_n_places(l->lower) + hone_cuda_n_places(f->inc);
    if (!lower || !hone_cuda_may_relaunch(k, f))
        return NULL;
    hone_c_edits_init(&edits, k->in->tree);
    for (const struct hone_c_node *s = k->function->body->first; s && s != f; s = s->next) {
        const struct hone_c_node *v = only_var(s);
        if (!v || hone_c_writes(f, v))
            return NULL;
        /* what only deals out the loop goes with it */
        if (n_refs(k->function->body, v) != n_refs(f->inc, v) + n_refs(l->lower, v))
            continue;
        delete_stmt(&edits, s);
        n_places += hone_cuda_n_places(s);
    }
    if (hone_cuda_n_places(k->function->body) != n_places)
        return NULL; /* a thread is asked for beside the loop's variable */
    hone_c_replace(&edits, f->begin, hone_c_stmt_end(k->in->tree, f),
                   hone_pool_printf(pool, "%s %s = %s;\n    if (%s >= %s)\n        return;\n%s",
                                    hone_cuda_type(k->in, l->var), l->var->name, lower,
                                    l->var->name, hone_c_text(k->in->tree, l->upper),
                                    hone_cuda_body(&edits, f->body)));
    for (size_t i = 0; i < k->n_launches; i++) {
        const char *blocks = hone_cuda_blocks(k, &k->launches[i], value_of(k, l->upper), "256");
        if (!blocks)
            return NULL;
        hone_cuda_set_launch(&edits, &k->launches[i], blocks, "256", k->launches[i].shared);
    }
    return finish(&edits, k);
}

/* ---- a block for each index ---- */

/* grid.x = ...: a dim3 that is more than its declaration says */
static bool has_member(const struct hone_c_node *top, const char *name)
{
    for (const struct hone_c_node *n = top; n; n = hone_c_walk(top, n)) {
        const struct hone_c_node *of = n->kind == HONE_C_MEMBER ? hone_c_strip(n->first) : n;
        bool is_set = n->kind == HONE_C_BINARY && strcmp(n->op, "=") == 0;
        of = is_set ? hone_c_strip(n->first) : of;
        if ((n->kind == HONE_C_MEMBER || is_set) && of && of->kind == HONE_C_REF &&
            strcmp(of->name, name) == 0)
            return true;
    }
    return false;
}

bool hone_cuda_read_dims(const struct hone_cuda_kernel *k, const struct hone_cuda_launch *l,
                         const char *text, const char *ret[3])
{
    struct hone_pool *pool = k->in->pool;
    const char *source = k->in->tree->source, *inside = NULL;
    const struct hone_c_node *top = l->launcher->body;
    ret[0] = text;
    ret[1] = ret[2] = "1";
    if (strncmp(text, "dim3(", 5) == 0)
        inside = text + 5;
    for (const struct hone_c_node *n = top; n && !inside; n = hone_c_walk(top, n)) {
        if (n->kind != HONE_C_VAR || strcmp(n->name, text) != 0 || !strstr(n->type, "dim3"))
            continue;
        const char *at = source + n->name_at + strlen(n->name);
        at += strspn(at, " =");
        at += strncmp(at, "dim3", 4) == 0 ? 4 : 0;
        if ((*at != '(' && *at != '{') || has_member(top, text))
            return false;
        inside = at + 1;
    }
    if (!inside)
        return true;
    int depth = 0;
    size_t n = 0;
    for (const char *start = inside, *at = inside; *at && n < 3; at++) {
        bool is_end = depth == 0 && (*at == ')' || *at == '}');
        if (is_end || (depth == 0 && *at == ',')) {
            start += strspn(start, " \n");
            ret[n++] = hone_pool_strndup(pool, start, (size_t)(at - start));
            start = at + 1;
        }
        if (is_end)
            return ret[0][0] != '\0';
        depth +=
            (*at == '(' || *at == '[' || *at == '{') - (*at == ')' || *at == ']' || *at == '}');
    }
    return false;
}

/* The launch tells how many blocks there are. A kernel that has rows alone gets 128 a block. */
static bool set_block_launch(struct hone_c_edits *edits, const struct hone_cuda_kernel *k,
                             const struct hone_cuda_launch *l, char dim)
{
    struct hone_pool *pool = k->in->pool;
    const char *grid[3], *block[3];
    size_t d = (size_t)(dim - 'x');
    if (!hone_cuda_read_dims(k, l, l->grid, grid) || !hone_cuda_read_dims(k, l, l->block, block) ||
        strcmp(block[d], "1") != 0)
        return false;
    const char *count = grid[d];
    if (d == 0 && strcmp(block[1], "1") == 0 && strcmp(block[2], "1") == 0)
        hone_cuda_set_launch(edits, l,
                             hone_pool_printf(pool, "dim3((unsigned)((%s + 127) / 128), %s, %s)",
                                              count, grid[1], grid[2]),
                             "128", l->shared);
    uint32_t at = l->n_args > 0 ? l->args[l->n_args - 1]->end : 0;
    if (at > 0)
        hone_c_replace(edits, at, at, hone_pool_printf(pool, ", (int64_t)(%s)", count));
    return at > 0;
}

/* a < v, v >= b in a chain of their kind */
static bool bounds(const struct hone_c_node *cond, const struct hone_c_node *v, bool is_inside)
{
    cond = hone_c_strip(cond);
    if (!cond || cond->kind != HONE_C_BINARY)
        return false;
    if (strcmp(cond->op, is_inside ? "&&" : "||") == 0)
        return bounds(cond->first, v, is_inside) || bounds(cond->last, v, is_inside);
    const struct hone_c_node *left = hone_c_strip(cond->first), *right = hone_c_strip(cond->last);
    bool is_left = left->kind == HONE_C_REF && left->decl == v,
         is_right = right->kind == HONE_C_REF && right->decl == v;
    return (is_left && strcmp(cond->op, is_inside ? "<" : ">=") == 0) ||
           (is_right && strcmp(cond->op, is_inside ? ">" : "<=") == 0);
}

/* Is the block's index held against a bound already, behind its declaration? */
static bool has_bound(const struct hone_c_node *stmt, const struct hone_c_node *v)
{
    for (const struct hone_c_node *s = stmt->next; s; s = s->next) {
        if (s->kind != HONE_C_IF || hone_c_n_children(s) != 2)
            continue;
        const struct hone_c_node *only = hone_c_only_stmt(s->last);
        bool is_return = only && only->kind == HONE_C_JUMP;
        if (is_return ? bounds(s->first, v, false) : !s->next && bounds(s->first, v, true))
            return true;
    }
    return false;
}

bool hone_cuda_is_one_thread(const struct hone_cuda_kernel *k, char dim)
{
    for (size_t i = 0; i < k->n_launches; i++) {
        const char *block[3];
        if (!hone_cuda_read_dims(k, &k->launches[i], k->launches[i].block, block) ||
            strcmp(block[dim - 'x'], "1") != 0)
            return false;
    }
    return true;
}

static const char *guard_block(const struct hone_cuda_kernel *k)
{
    struct hone_c_edits edits;
    for (const struct hone_c_node *s = k->function->body->first; s; s = s->next) {
        const struct hone_c_node *v = only_var(s), *init = v ? hone_c_strip(v->last) : NULL;
        if (!init || init->kind != HONE_C_MEMBER || strncmp(init->name, "blockIdx.", 9) != 0 ||
            hone_c_writes(k->function, v) || k->n_params == 0)
            continue;
        char dim = init->name[9];
        if (hone_cuda_n_members(k, "blockIdx", dim) != 1 ||
            hone_cuda_n_members(k, "threadIdx", dim) > 0 ||
            hone_cuda_n_members(k, "blockDim", dim) > 0 ||
            hone_cuda_n_members(k, "gridDim", dim) > 0 || !hone_cuda_may_relaunch(k, s))
            continue;
        bool is_known = true;
        hone_c_edits_init(&edits, k->in->tree);
        hone_c_replace(&edits, v->last->begin, v->last->end,
                       hone_pool_printf(k->in->pool,
                                        "(int64_t)blockIdx.%c * blockDim.%c + threadIdx.%c", dim,
                                        dim, dim));
        if (has_bound(s, v)) {
            if (hone_cuda_is_one_thread(k, dim))
                return finish(&edits, k);
            continue;
        }
        const char *bound = hone_fresh_name(k->in, hone_pool_printf(k->in->pool, "n_%s", v->name));
        uint32_t end = hone_c_stmt_end(k->in->tree, s), at = k->params[k->n_params - 1]->end;
        hone_c_replace(
            &edits, end, end,
            hone_pool_printf(k->in->pool, "\n    if (%s >= %s)\n        return;", v->name, bound));
        hone_c_replace(&edits, at, at, hone_pool_printf(k->in->pool, ", int64_t %s", bound));
        for (size_t i = 0; i < k->n_launches && is_known; i++)
            is_known = set_block_launch(&edits, k, &k->launches[i], dim);
        if (is_known)
            return finish(&edits, k);
    }
    return NULL;
}

/* ---- a sum that grows in memory ---- */

static bool is_element(const char *type)
{
    return strcmp(type, "float") == 0 || strcmp(type, "double") == 0;
}

/* X[i] += e in a loop where neither X nor i changes otherwise */
static bool grows_in(const struct hone_cuda_kernel *k, const struct hone_c_node *loop,
                     const struct hone_c_node *stmt)
{
    struct hone_c_access a[MAX_ACCESSES];
    const struct hone_c_node *target = stmt->first;
    size_t n = hone_c_accesses(k->function, loop, a, MAX_ACCESSES);
    const struct hone_c_node *root = NULL;
    for (size_t i = 0; i < n && i < MAX_ACCESSES; i++)
        if (a[i].node == target)
            root = a[i].root;
    for (size_t i = 0; i < n && i < MAX_ACCESSES; i++)
        if (a[i].node != target && (!a[i].root || a[i].root == root || a[i].is_write))
            return false;
    return root && root->kind == HONE_C_PARAM && n <= MAX_ACCESSES &&
           n_refs(loop, root) == n_refs(target, root) && hone_c_is_invariant(target->last, loop);
}

static const char *hold_sum(const struct hone_cuda_kernel *k)
{
    struct hone_pool *pool = k->in->pool;
    for (size_t i = 0; i < k->n_stmts; i++) {
        const struct hone_c_node *loop = k->stmts[i], *stmt = loop;
        while (stmt && stmt->kind == HONE_C_FOR)
            stmt = hone_c_only_stmt(stmt->body);
        bool is_sum = stmt && stmt != loop && stmt->kind == HONE_C_ASSIGN_OP &&
                      strcmp(stmt->op, "+=") == 0 && stmt->first->kind == HONE_C_SUBSCRIPT &&
                      is_element(stmt->first->type);
        if (!is_sum || !grows_in(k, loop, stmt))
            continue;
        struct hone_c_edits edits;
        const char *sum = hone_fresh_name(k->in, "sum"),
                   *target = hone_c_text(k->in->tree, stmt->first), *begins = target;
        const struct hone_c_node *before = i > 0 ? k->stmts[i - 1] : NULL;
        uint32_t end = hone_c_stmt_end(k->in->tree, loop);
        hone_c_edits_init(&edits, k->in->tree);
        bool is_set = before && before->next == loop && before->kind == HONE_C_BINARY &&
                      strcmp(before->op, "=") == 0 &&
                      strcmp(hone_c_text(k->in->tree, before->first), target) == 0;
        if (is_set) {
            begins = hone_c_text(k->in->tree, before->last);
            delete_stmt(&edits, before);
        }
        hone_c_replace(&edits, loop->begin, loop->begin,
                       hone_pool_printf(pool, "%s %s = %s;\n    ", stmt->first->type, sum, begins));
        hone_c_replace(&edits, stmt->first->begin, stmt->first->end, sum);
        hone_c_replace(&edits, end, end, hone_pool_printf(pool, "\n    %s = %s;", target, sum));
        return finish(&edits, k);
    }
    return NULL;
}

/* ---- locals of a loop that feed its one update ---- */

static const char *with_subs(const struct hone_cuda_kernel *k, const struct hone_c_node *expr,
                             const struct hone_cuda_sub *subs, size_t n)
{
    struct hone_c_edits edits;
    hone_c_edits_init(&edits, k->in->tree);
    for (size_t i = 0; i < n; i++)
        hone_c_replace_refs(&edits, expr, subs[i].decl, subs[i].text);
    return hone_c_edit_text(&edits, expr->begin, expr->end);
}

static const char *inline_locals(const struct hone_cuda_kernel *k)
{
    for (size_t i = 0; i < k->nest.n; i++) {
        const struct hone_c_node *body = k->nest.loops[i].node->body;
        const struct hone_c_node *last = body && body->kind == HONE_C_COMPOUND ? body->last : NULL;
        if (!last || last == body->first || hone_c_contains(last, k->nest.loops[i].node) ||
            (last->kind != HONE_C_ASSIGN_OP && last->kind != HONE_C_BINARY) ||
            hone_c_strip(last->first)->kind != HONE_C_REF || hone_cuda_has_effect(k, last->last))
            continue;
        struct hone_cuda_sub subs[8];
        size_t n = 0;
        const struct hone_c_node *s = body->first;
        for (; s != last && n < HONE_COUNTOF(subs); s = s->next, n++) {
            const struct hone_c_node *v = only_var(s);
            const char *text = v && !strpbrk(v->type, "*[") && !hone_c_writes(body, v) &&
                                       !hone_cuda_has_effect(k, v->last)
                                   ? with_subs(k, v->last, subs, n)
                                   : NULL;
            if (!text)
                break;
            const char *type = hone_cuda_type(k->in, v);
            bool is_same =
                strcmp(hone_c_strip(v->last)->type, type) == 0 || strcmp(type, "auto") == 0;
            subs[n] = (struct hone_cuda_sub){
                v, is_same ? hone_pool_printf(k->in->pool, "(%s)", text)
                           : hone_pool_printf(k->in->pool, "(%s)(%s)", type, text)};
        }
        if (s != last)
            continue;
        struct hone_c_edits edits;
        hone_c_edits_init(&edits, k->in->tree);
        for (size_t j = 0; j < n; j++)
            hone_c_replace_refs(&edits, last, subs[j].decl, subs[j].text);
        for (s = body->first; s != last; s = s->next)
            delete_stmt(&edits, s);
        return finish(&edits, k);
    }
    return NULL;
}

/* ---- the steps ---- */

const char *hone_cuda_normal_step(const struct hone_coder_input *in)
{
    static const char *(*const steps[])(const struct hone_cuda_kernel *) = {
        hone_cuda_spread_structs,
        hone_cuda_name_rests,
        hone_cuda_split_decls,
        hone_cuda_name_block,
        hone_cuda_own_counter,
        hone_cuda_own_init,
        hone_cuda_own_pointer,
        hone_cuda_inline_places,
        open_grid_loop,
        guard_block,
        hone_cuda_split_flat,
        hold_sum,
        inline_locals,
        hone_cuda_untile,
        hone_cuda_open_batch};
    const struct hone_cuda_kernel *all[HONE_CUDA_MAX_KERNELS];
    const char *words = hone_cuda_put_macros(in);
    words = words ? words : hone_cuda_put_templates(in);
    if (words)
        return words;
    size_t n = hone_cuda_kernels(in, all, HONE_CUDA_MAX_KERNELS);
    for (size_t i = 0; i < n; i++) {
        for (size_t s = 0; s < HONE_COUNTOF(steps); s++) {
            const char *text = steps[s](all[i]);
            if (text)
                return text;
        }
    }
    return NULL;
}
