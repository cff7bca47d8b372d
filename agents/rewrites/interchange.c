/* SPDX-License-Identifier: Apache-2.0 */
/* C02: loop interchange towards unit stride.
 *
 * variant 0  A perfect pair is swapped.
 * variant 1  The accumulator moves into the output, so that the inner loop runs along it. Only when
 *            X has the accumulator's type.
 *
 *     for j { acc = init; for k acc += E; X(j) = f(acc); }
 *
 * becomes
 *
 *     for j X = init;
 *     for k for j X += E;
 *     for j X = f(X); */
#include "agents/rewrites/coder_rules.h"

#include <string.h>

enum { SWAP, EXPAND, MAX_ACCESSES = 64 };

static int unit_minus_far(const struct hone_coder_input *in, const struct hone_c_node *body,
                          const struct hone_c_node *var)
{
    struct hone_c_access a[MAX_ACCESSES];
    size_t n = hone_c_accesses(in->nest.function, body, a, MAX_ACCESSES);
    int score = 0;
    for (size_t i = 0; i < n && i < MAX_ACCESSES; i++) {
        enum hone_c_stride s = hone_c_poly_stride(&a[i].index, var);
        score += s == HONE_C_STRIDE_UNIT;
        score -= s == HONE_C_STRIDE_FAR || s == HONE_C_STRIDE_UNKNOWN;
    }
    return score;
}

static bool is_free(const struct hone_c_loop *l)
{
    return !l->is_fallback && l->is_canonical && l->declares_var && l->is_unit_step &&
           !l->has_parallel && !l->has_simd;
}

static bool are_bounds_apart(const struct hone_c_loop *outer, const struct hone_c_loop *inner)
{
    return !hone_c_uses(inner->lower, outer->var) && !hone_c_uses(inner->upper, outer->var);
}

struct parts { /* of the reduction form */
    const struct hone_c_loop *inner;
    const struct hone_c_node *acc, *store;
    struct hone_c_reduction r;
};

static bool match(const struct hone_coder_input *in, const struct hone_c_loop *j, struct parts *ret)
{
    const struct hone_c_node *b = j->node->body;
    if (b->kind != HONE_C_COMPOUND || hone_c_n_children(b) != 3)
        return false;
    const struct hone_c_node *decl = b->first, *loop = decl->next, *store = b->last;
    if (decl->kind != HONE_C_DECL_STMT || decl->first != decl->last ||
        decl->first->kind != HONE_C_VAR || !decl->first->last)
        return false;
    const struct hone_c_loop *k = hone_c_loop_of(&in->nest, loop);
    size_t n = 0;
    struct hone_c_reduction r[HONE_C_MAX_REDUCTIONS];
    if (!k || !is_free(k) || !are_bounds_apart(j, k) || !hone_c_reductions(k, r, &n) || n != 1 ||
        r[0].var != decl->first || hone_c_only_stmt(k->node->body) != r[0].stmt ||
        r[0].op[0] == 'm')
        return false;
    if (store->kind != HONE_C_BINARY || strcmp(store->op, "=") != 0 ||
        store->first->kind != HONE_C_SUBSCRIPT ||
        strcmp(store->first->type, decl->first->type) != 0 ||
        !hone_c_uses(store->last, decl->first))
        return false;
    *ret = (struct parts){.inner = k, .acc = decl->first, .store = store, .r = r[0]};
    return true;
}

static size_t sites(const struct hone_coder_input *in, struct hone_coder_site *ret, size_t max)
{
    size_t n = 0;
    const char *why;
    for (size_t i = 0; i < in->nest.n && n < max; i++) {
        const struct hone_c_loop *l = &in->nest.loops[i];
        struct parts p;
        if (!is_free(l) || !hone_c_is_parallel(&in->nest, l, &why))
            continue;
        if (match(in, l, &p)) {
            if (unit_minus_far(in, p.r.stmt, l->var) <= unit_minus_far(in, p.r.stmt, p.inner->var))
                continue;
            ret[n] = hone_site(l->node, l->begin, l->node->end, hone_loop_words(in, l));
            ret[n].evidence = "the inner loop strides; the loop around it would run at unit stride";
            ret[n++].variant = EXPAND;
            continue;
        }
        const struct hone_c_loop *inner =
            hone_c_loop_of(&in->nest, hone_c_only_stmt(l->node->body));
        if (!inner || !is_free(inner) || !are_bounds_apart(l, inner) || !inner->is_innermost ||
            !hone_may_regroup(in, l) ||
            unit_minus_far(in, inner->node->body, l->var) <=
                unit_minus_far(in, inner->node->body, inner->var))
            continue;
        ret[n] = hone_site(l->node, l->begin, l->node->end, hone_loop_words(in, l));
        ret[n].evidence = "swapping the pair gives unit stride inside";
        ret[n++].variant = SWAP;
    }
    return n;
}

static char *header(const struct hone_coder_input *in, const struct hone_c_loop *l)
{
    return hone_pool_strndup(in->pool, in->tree->source + l->node->begin,
                             l->node->body->begin - l->node->begin);
}

static char *expand_text(const struct hone_coder_input *in, const struct hone_c_loop *j,
                         const struct parts *p)
{
    const char *x = hone_c_text(in->tree, p->store->first),
               *init = hone_c_text(in->tree, p->acc->last);
    const char *jh = header(in, j), *kh = header(in, p->inner);
    struct hone_c_edits e;
    hone_c_edits_init(&e, in->tree);
    hone_c_replace_refs(&e, p->r.stmt, p->acc, x);
    hone_c_replace_refs(&e, p->store->last, p->acc, x);
    const char *update =
        hone_c_edit_text(&e, p->r.stmt->begin, hone_c_stmt_end(in->tree, p->r.stmt));
    char *text = hone_pool_printf(in->pool, "{\n%s\n%s = %s;\n%s {\n%s\n%s\n}\n", jh, x, init, kh,
                                  jh, update);
    bool is_plain = hone_c_strip(p->store->last)->kind == HONE_C_REF;
    if (!is_plain)
        text = hone_pool_printf(
            in->pool, "%s%s\n%s\n", text, jh,
            hone_c_edit_text(&e, p->store->begin, hone_c_stmt_end(in->tree, p->store)));
    return hone_pool_printf(in->pool, "%s}", text);
}

static char *apply(const struct hone_coder_input *in, const struct hone_coder_site *site,
                   struct hone_err *err)
{
    const struct hone_c_loop *l = hone_c_loop_of(&in->nest, site->node);
    struct parts p;
    const char *text = NULL;
    if (l && site->variant == EXPAND && match(in, l, &p)) {
        text = expand_text(in, l, &p);
    } else if (l && site->variant == SWAP) {
        const struct hone_c_loop *inner =
            hone_c_loop_of(&in->nest, hone_c_only_stmt(l->node->body));
        struct hone_c_edits none;
        hone_c_edits_init(&none, in->tree);
        text = hone_pool_printf(in->pool, "%s %s {\n%s\n}", header(in, inner), header(in, l),
                                hone_body_text(&none, inner->node->body));
    }
    if (!text) {
        hone_fail(err, HONE_E_ARG, "the region is no loop pair of this source");
        return NULL;
    }
    struct hone_c_edits e;
    hone_c_edits_init(&e, in->tree);
    hone_c_replace(&e, l->begin, hone_c_stmt_end(in->tree, l->node), text);
    return hone_finish_edits(&e);
}

const struct hone_rewrite hone_rewrite_interchange = {
    .name = "interchange",
    .strategy = "C02",
    .words = "interchange loops to unit stride",
    .then = "bin_tile", /* what is added to an output now */
    .sites = sites,
    .apply = apply,
};
