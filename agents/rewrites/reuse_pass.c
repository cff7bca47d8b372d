/* SPDX-License-Identifier: Apache-2.0 */
/* C17: a later pass computes the same call again; the earlier pass stores it in the output, and the
 * later one reads it from there.
 *
 *     for i: s += f(x[i]);
 *     for i: y[i] = f(x[i]) / s;
 *
 * becomes
 *
 *     for i: { y[i] = f(x[i]); s += y[i]; }
 *     for i: y[i] = y[i] / s; */
#include "agents/rewrites/coder_rules.h"

#include <string.h>

enum { MAX_ACCESSES = 64 };

struct parts {
    const struct hone_c_loop *first, *second;
    const struct hone_c_node *call_1, *call_2, *store,
        *stmt; /* stmt: the statement of the first pass that holds the call */
};

static bool same_text(const struct hone_coder_input *in, const struct hone_c_node *a,
                      const struct hone_c_node *b)
{
    return strcmp(hone_c_text(in->tree, a), hone_c_text(in->tree, b)) == 0;
}

static bool same_bounds(const struct hone_coder_input *in, const struct hone_c_loop *a,
                        const struct hone_c_loop *b)
{
    return a->is_canonical && b->is_canonical && a->declares_var && b->declares_var &&
           a->is_unit_step && b->is_unit_step && !a->has_parallel && !b->has_parallel &&
           strcmp(a->var->name, b->var->name) == 0 && same_text(in, a->lower, b->lower) &&
           same_text(in, a->node->cond, b->node->cond);
}

/* Does the statement run in each turn of the loop? */
static bool runs_always(const struct hone_c_loop *loop, const struct hone_c_node *stmt)
{
    const struct hone_c_node *body = loop->node->body;
    for (const struct hone_c_node *n = body; n; n = hone_c_walk(body, n))
        if (n->kind == HONE_C_JUMP)
            return false;
    while (stmt != body && stmt->parent->kind == HONE_C_COMPOUND)
        stmt = stmt->parent;
    return stmt == body || stmt->parent == loop->node;
}

/* Has the call the same value in both passes? What it reads is not written from one to the other. */
static bool is_settled(const struct hone_coder_input *in, const struct hone_c_node *call,
                       const struct hone_c_loop *a, const struct hone_c_loop *b)
{
    struct hone_c_access reads[MAX_ACCESSES], all[MAX_ACCESSES];
    size_t n_reads = hone_c_accesses(in->nest.function, call, reads, MAX_ACCESSES);
    if (n_reads > MAX_ACCESSES)
        return false;
    for (const struct hone_c_node *s = a->node; s != b->node->next; s = s->next) {
        size_t n = hone_c_accesses(in->nest.function, s, all, MAX_ACCESSES);
        for (size_t w = 0; n <= MAX_ACCESSES && w < n; w++)
            for (size_t r = 0; r < n_reads; r++)
                if (all[w].is_write &&
                    (!all[w].root || all[w].root == reads[r].root ||
                     hone_c_is_moved_beside(in->nest.function, &all[w], &reads[r])))
                    return false;
        for (const struct hone_c_node *x = call; x; x = hone_c_walk(call, x))
            if (x->kind == HONE_C_REF && x->decl && x->decl != a->var &&
                (hone_c_writes(s, x->decl) || hone_c_contains(s, x->decl)))
                return false;
        if (n > MAX_ACCESSES)
            return false;
    }
    return true;
}

static bool match(const struct hone_coder_input *in, const struct hone_c_loop *a,
                  const struct hone_c_loop *b, struct parts *ret)
{
    if (a->node->parent != b->node->parent || a->node->begin >= b->node->begin ||
        !same_bounds(in, a, b))
        return false;
    const struct hone_c_node *store = hone_c_only_stmt(b->node->body);
    if (!store || store->kind != HONE_C_BINARY || strcmp(store->op, "=") != 0 ||
        store->first->kind != HONE_C_SUBSCRIPT)
        return false;
    const struct hone_c_node *root = hone_c_strip(store->first->first);
    if (!root || root->kind != HONE_C_REF || hone_c_uses(a->node, root->decl) ||
        hone_c_uses(store->last, root->decl))
        return false;
    for (const struct hone_c_node *y = store->last; y; y = hone_c_walk(store->last, y)) {
        if (y->kind != HONE_C_CALL)
            continue;
        for (const struct hone_c_node *x = a->node->body; x; x = hone_c_walk(a->node->body, x)) {
            if (x->kind != HONE_C_CALL || !same_text(in, x, y) ||
                strcmp(x->type, store->first->type) != 0)
                continue;
            const struct hone_c_node *stmt = x;
            while (!hone_c_is_stmt(stmt))
                stmt = stmt->parent;
            if (!runs_always(a, stmt) || !is_settled(in, x, a, b))
                continue;
            *ret = (struct parts){a, b, x, y, store, stmt};
            return true;
        }
    }
    return false;
}

static size_t sites(const struct hone_coder_input *in, struct hone_coder_site *ret, size_t max)
{
    size_t n = 0;
    struct parts p;
    for (size_t i = 0; i < in->nest.n; i++) {
        for (size_t j = i + 1; j < in->nest.n && n < max; j++) {
            const struct hone_c_loop *l = &in->nest.loops[j];
            if (!match(in, &in->nest.loops[i], l, &p))
                continue;
            ret[n] = hone_site(l->node, l->begin, l->node->end, hone_loop_words(in, l));
            ret[n++].evidence = hone_pool_printf(in->pool, "%s is computed in two passes",
                                                 hone_c_text(in->tree, p.call_2));
        }
    }
    return n;
}

static char *apply(const struct hone_coder_input *in, const struct hone_coder_site *site,
                   struct hone_err *err)
{
    const struct hone_c_loop *second = hone_c_loop_of(&in->nest, site->node);
    struct parts p;
    for (size_t i = 0; second && i < in->nest.n; i++) {
        if (!match(in, &in->nest.loops[i], second, &p))
            continue;
        const char *place = hone_c_text(in->tree, p.store->first),
                   *kept = hone_fresh_name(in, "kept");
        struct hone_c_edits e;
        hone_c_edits_init(&e, in->tree);
        hone_c_replace(&e, p.stmt->begin, p.stmt->begin,
                       hone_pool_printf(in->pool, "{\nconst %s %s = %s;\n%s = %s;\n",
                                        p.store->first->type, kept, hone_c_text(in->tree, p.call_1),
                                        place, kept));
        hone_c_replace(&e, p.call_1->begin, p.call_1->end, kept);
        uint32_t end = hone_c_stmt_end(in->tree, p.stmt);
        hone_c_replace(&e, end, end, "\n}");
        hone_c_replace(&e, p.call_2->begin, p.call_2->end, place);
        return hone_finish_edits(&e);
    }
    hone_fail(err, HONE_E_ARG, "no earlier pass computes the same call");
    return NULL;
}

const struct hone_rewrite hone_rewrite_reuse_pass = {
    .name = "reuse_pass",
    .strategy = "C17",
    .words = "keep the values of the earlier pass",
    .sites = sites,
    .apply = apply,
};
