/* SPDX-License-Identifier: Apache-2.0 */
/* Steps to the normal form of C loop nests (c_normal.h): k moves inside of j, the loop that sets
 * first values is fused with the sum, the sum moves from memory to a local. */
#include "agents/source/c_normal.h"

#include <string.h>

enum { MAX_ACCESSES = 64 };

struct accesses {
    size_t n;
    struct hone_c_access v[MAX_ACCESSES];
};

/* False when there are too many, or one whose memory is not known. */
static bool read_accesses(const struct hone_coder_input *in, const struct hone_c_node *top,
                          struct accesses *ret)
{
    ret->n = hone_c_accesses(in->nest.function, top, ret->v, MAX_ACCESSES);
    if (ret->n > MAX_ACCESSES)
        return false;
    for (size_t i = 0; i < ret->n; i++)
        if (!ret->v[i].root)
            return false;
    return true;
}

/* Nothing but plain statements, loops and decisions: no jump, no call that gets a pointer, nothing
 * that the tree does not know. */
static bool is_plain(const struct hone_c_node *top)
{
    for (const struct hone_c_node *n = top; n; n = hone_c_walk(top, n)) {
        if (n->kind == HONE_C_JUMP || n->kind == HONE_C_WHILE || n->kind == HONE_C_OTHER)
            return false;
        for (const struct hone_c_node *arg = n->kind == HONE_C_CALL ? n->first->next : NULL; arg;
             arg = arg->next)
            if (strchr(arg->type, '*') || strchr(arg->type, '['))
                return false;
    }
    return true;
}

/* A counted loop without pragmas. */
static bool is_counted(const struct hone_c_loop *l)
{
    return l && l->is_canonical && l->is_unit_step && l->declares_var && !l->is_fallback &&
           l->begin == l->node->begin;
}

static bool has_pragma(const struct hone_coder_input *in, const struct hone_c_node *top)
{
    for (uint32_t at = top->begin; at < top->end; at++)
        if (in->tree->source[at] == '#')
            return true;
    return false;
}

static bool is_same_text(const struct hone_coder_input *in, const struct hone_c_node *a,
                         const struct hone_c_node *b)
{
    return a->end - a->begin == b->end - b->begin &&
           memcmp(in->tree->source + a->begin, in->tree->source + b->begin, a->end - a->begin) == 0;
}

static bool is_update(const struct hone_c_node *n)
{
    bool is_set = n->kind == HONE_C_BINARY && strcmp(n->op, "=") == 0;
    return (is_set || n->kind == HONE_C_ASSIGN_OP) && n->first &&
           hone_c_strip(n->first)->kind == HONE_C_SUBSCRIPT;
}

/* ---- k outside of j ---- */

/* The loop at the end of a body that else declares values; NULL: another form. */
static const struct hone_c_loop *loop_after_values(const struct hone_coder_input *in,
                                                   const struct hone_c_node *body)
{
    if (body->kind != HONE_C_COMPOUND)
        return hone_c_loop_of(&in->nest, body);
    for (const struct hone_c_node *s = body->first; s && s != body->last; s = s->next)
        for (const struct hone_c_node *v = s->kind == HONE_C_DECL_STMT ? s->first : s; v;
             v = s->kind == HONE_C_DECL_STMT ? v->next : NULL)
            if (v->kind != HONE_C_VAR || !v->last || strpbrk(v->type, "*[") ||
                hone_c_writes(body, v))
                return NULL;
    return body->last ? hone_c_loop_of(&in->nest, body->last) : NULL;
}

/* for k { values; for j X[.. + j] += e; }, X nowhere else and k not in its index. */
static const struct hone_c_loop *inner_of_swap(const struct hone_coder_input *in,
                                               const struct hone_c_loop *k)
{
    const struct hone_c_loop *j = is_counted(k) ? loop_after_values(in, k->node->body) : NULL;
    const struct hone_c_node *stmt = is_counted(j) ? hone_c_only_stmt(j->node->body) : NULL;
    struct accesses a;
    if (!stmt || !j->is_innermost || stmt->kind != HONE_C_ASSIGN_OP || !is_update(stmt) ||
        !hone_c_is_invariant(j->lower, k->node) || !hone_c_is_invariant(j->upper, k->node) ||
        !is_plain(k->node) || has_pragma(in, k->node) || hone_c_writes_scalar(k) ||
        !read_accesses(in, k->node, &a))
        return NULL;
    const struct hone_c_node *place = hone_c_strip(stmt->first);
    const struct hone_c_access *out = NULL;
    for (size_t i = 0; i < a.n; i++)
        if (a.v[i].node == place)
            out = &a.v[i];
    if (!out || hone_c_poly_stride(&out->index, j->var) != HONE_C_STRIDE_UNIT ||
        hone_c_poly_stride(&out->index, k->var) != HONE_C_STRIDE_ZERO ||
        hone_c_uses(place, k->var) || !hone_c_is_invariant(place->last, j->node->body))
        return NULL;
    for (const struct hone_c_node *n = place; n; n = hone_c_walk(place, n))
        if (n->kind == HONE_C_REF && n->decl && n->decl != j->var &&
            hone_c_contains(k->node, n->decl))
            return NULL;
    for (size_t i = 0; i < a.n; i++)
        if (&a.v[i] != out &&
            (a.v[i].root == out->root || hone_c_is_moved_beside(in->nest.function, &a.v[i], out)))
            return NULL;
    return j;
}

static const char *header(const struct hone_coder_input *in, const struct hone_c_loop *l)
{
    return hone_pool_strndup(in->pool, in->tree->source + l->node->begin,
                             l->node->body->begin - l->node->begin);
}

static const char *swap(const struct hone_coder_input *in, const struct hone_c_loop *k)
{
    const struct hone_c_loop *j = inner_of_swap(in, k);
    if (!j)
        return NULL;
    struct hone_c_edits e;
    hone_c_edits_init(&e, in->tree);
    bool is_braced = k->node->body->kind == HONE_C_COMPOUND;
    const char *values =
        is_braced ? hone_pool_strndup(in->pool, in->tree->source + k->node->body->begin + 1,
                                      j->node->begin - k->node->body->begin - 1)
                  : "";
    hone_c_replace(&e, k->node->begin, hone_c_stmt_end(in->tree, k->node),
                   hone_pool_printf(in->pool, "%s {\n%s {\n%s%s\n}\n}", header(in, j),
                                    header(in, k), values, hone_body_text(&e, j->node->body)));
    return hone_finish_edits(&e);
}

/* ---- a loop that sets first values ---- */

/* Every element that both loops touch and one of them writes is touched by the same iteration. */
static bool is_apart(const struct hone_coder_input *in, const struct hone_c_loop *first,
                     const struct hone_c_loop *second)
{
    struct accesses a, b;
    bool shares = false;
    if (!read_accesses(in, first->node->body, &a) || !read_accesses(in, second->node->body, &b))
        return false;
    for (size_t i = 0; i < a.n; i++)
        for (size_t k = 0; k < b.n; k++) {
            if (!(a.v[i].is_write || b.v[k].is_write))
                continue;
            if (hone_c_is_moved_beside(in->nest.function, &a.v[i], &b.v[k]))
                return false;
            if (a.v[i].root != b.v[k].root)
                continue;
            enum hone_c_stride stride = hone_c_poly_stride(&a.v[i].index, first->var);
            if (!is_same_text(in, a.v[i].node, b.v[k].node) ||
                hone_c_strip(a.v[i].node->first)->decl != hone_c_strip(b.v[k].node->first)->decl ||
                (stride != HONE_C_STRIDE_UNIT && stride != HONE_C_STRIDE_FAR) ||
                !hone_c_is_invariant(a.v[i].node->last, first->node->body) ||
                !hone_c_is_invariant(b.v[k].node->last, second->node->body))
                return false;
            shares = true;
        }
    return shares;
}

static const char *fuse(const struct hone_coder_input *in, const struct hone_c_loop *first)
{
    const struct hone_c_loop *second = is_counted(first) && first->is_innermost && first->node->next
                                           ? hone_c_loop_of(&in->nest, first->node->next)
                                           : NULL;
    if (!is_counted(second) || second->is_innermost ||
        first->node->parent->kind != HONE_C_COMPOUND ||
        strcmp(first->var->name, second->var->name) != 0 ||
        strcmp(first->var->type, second->var->type) != 0 ||
        first->is_inclusive != second->is_inclusive ||
        !is_same_text(in, first->lower, second->lower) ||
        !is_same_text(in, first->upper, second->upper) || !is_plain(first->node) ||
        !is_plain(second->node) || has_pragma(in, first->node) || has_pragma(in, second->node) ||
        hone_c_writes_scalar(first) || hone_c_writes_scalar(second) || !is_apart(in, first, second))
        return NULL;
    const struct hone_c_node *only = hone_c_only_stmt(first->node->body);
    if (!only || only->kind == HONE_C_DECL_STMT)
        return NULL;
    struct hone_c_edits e;
    hone_c_edits_init(&e, in->tree);
    hone_c_replace(&e, first->node->begin, hone_c_stmt_end(in->tree, second->node),
                   hone_pool_printf(in->pool, "%s {\n%s\n%s\n}", header(in, first),
                                    hone_body_text(&e, first->node->body),
                                    hone_body_text(&e, second->node->body)));
    return hone_finish_edits(&e);
}

/* ---- a sum in memory ---- */

enum { MAX_CHAIN = 3 }; /* of counters that bound one another */

static const struct hone_c_loop *loop_that_counts(const struct hone_coder_input *in,
                                                  const struct hone_c_node *counter)
{
    for (size_t i = 0; i < in->nest.n; i++)
        if (in->nest.loops[i].var == counter && in->nest.loops[i].is_canonical)
            return &in->nest.loops[i];
    return NULL;
}

/* bound - counter as a number; false: it is none. */
static bool is_bound_beside(const struct hone_coder_input *in, const struct hone_c_node *bound,
                            const struct hone_c_node *counter, int64_t *ret)
{
    struct hone_c_poly p = hone_c_poly_of(in->nest.function, bound), own = {.is_known = true};
    own.n = 1;
    own.terms[0] =
        (struct hone_c_term){.k = 1, .n_factors = 1, .factors = {{counter, counter->name}}};
    p = hone_c_poly_sum(&p, &own, -1);
    *ret = p.n > 0 ? p.terms[0].k : 0;
    return p.is_known && (p.n == 0 || (p.n == 1 && p.terms[0].n_factors == 0));
}

/* Is counter k always below, or always above, counter v of a loop around it? j < i and k < j show
 * k < i too. */
static bool is_beside(const struct hone_coder_input *in, const struct hone_c_node *k,
                      const struct hone_c_node *v, bool is_below, int depth)
{
    const struct hone_c_loop *l = loop_that_counts(in, k);
    const struct hone_c_node *bound = l ? (is_below ? l->upper : l->lower) : NULL;
    int64_t least = is_below ? (l && l->is_inclusive ? -1 : 0) : 1, by;
    if (!bound || depth == MAX_CHAIN)
        return false;
    if (is_bound_beside(in, bound, v, &by))
        return is_below ? by <= least : by >= least;
    const struct hone_c_node *next = hone_c_strip(bound);
    return next->kind == HONE_C_REF && next->decl &&
           is_beside(in, next->decl, v, is_below, depth + 1);
}

static struct hone_c_poly with_counter(const struct hone_c_poly *poly, const struct hone_c_node *k,
                                       const struct hone_c_node *v)
{
    struct hone_c_poly part = *poly, zero = {.is_known = true};
    for (size_t i = 0; i < part.n; i++)
        for (size_t f = 0; f < part.terms[i].n_factors; f++)
            if (part.terms[i].factors[f].decl == k)
                part.terms[i].factors[f] = (struct hone_c_factor){v, v->name};
    return hone_c_poly_sum(&zero, &part, 1);
}

static size_t terms_with(const struct hone_c_poly *poly, const struct hone_c_node *counter)
{
    size_t n = 0;
    for (size_t i = 0; i < poly->n; i++)
        for (size_t f = 0; f < poly->terms[i].n_factors; f++)
            n += poly->terms[i].factors[f].decl == counter;
    return n;
}

/* The other access is the place with a counter k of the loop where the place has v, and the bounds
 * keep the two apart: x[j] beside x[i] for j < i. */
static bool is_kept_apart(const struct hone_coder_input *in, const struct hone_c_loop *l,
                          const struct hone_c_access *place, const struct hone_c_access *other)
{
    for (size_t i = 0; other->index.is_known && i < in->nest.n; i++) {
        const struct hone_c_loop *inner = &in->nest.loops[i];
        if (!inner->var || !hone_c_contains(l->node, inner->node))
            continue;
        for (const struct hone_c_loop *v = l->parent; v; v = v->parent) {
            struct hone_c_poly same = v->var ? with_counter(&other->index, inner->var, v->var)
                                             : (struct hone_c_poly){.is_known = false};
            same = hone_c_poly_sum(&same, &place->index, -1);
            if (same.is_known && same.n == 0 && terms_with(&other->index, inner->var) == 1 &&
                (is_beside(in, inner->var, v->var, true, 0) ||
                 is_beside(in, inner->var, v->var, false, 0)))
                return true;
        }
    }
    return false;
}

/* Is every access of the loop to place's memory one to the same element, by the same words, or to
 * another one? */
static bool is_lone_element(const struct hone_coder_input *in, const struct hone_c_loop *l,
                            const struct hone_c_node *place)
{
    struct accesses a;
    const struct hone_c_node *base = hone_c_strip(place->first);
    const struct hone_c_access *own = NULL;
    if (base->kind != HONE_C_REF || !base->decl || hone_c_contains(l->node, base->decl) ||
        !l->is_canonical || l->is_fallback || !hone_c_is_invariant(place->last, l->node) ||
        !is_plain(l->node) || has_pragma(in, l->node) || l->begin != l->node->begin ||
        hone_c_writes(l->node, base->decl) || !read_accesses(in, l->node, &a))
        return false;
    for (size_t i = 0; i < a.n; i++)
        if (a.v[i].node == place)
            own = &a.v[i];
    size_t n = 0, n_refs = 0;
    for (size_t i = 0; own && i < a.n; i++) {
        bool is_same = a.v[i].node->kind == HONE_C_SUBSCRIPT &&
                       hone_c_strip(a.v[i].node->first)->decl == base->decl;
        n += a.v[i].root == own->root;
        if (a.v[i].root == own->root &&
            !(is_same && (is_same_text(in, a.v[i].node, place) ||
                          (!a.v[i].is_write && is_kept_apart(in, l, own, &a.v[i])))))
            return false;
    }
    for (const struct hone_c_node *x = l->node; x; x = hone_c_walk(l->node, x))
        n_refs += x->kind == HONE_C_REF && x->decl == base->decl;
    return own && n == n_refs;
}

/* The widest loop around the statement that works on one element; NULL: none. */
static const struct hone_c_loop *loop_of_sum(const struct hone_coder_input *in,
                                             const struct hone_c_loop *inner,
                                             const struct hone_c_node *place)
{
    const struct hone_c_loop *found = NULL;
    for (const struct hone_c_loop *l = inner; l && is_lone_element(in, l, place); l = l->parent)
        found = l;
    return found;
}

/* The statement in front, when it sets the element. */
static const struct hone_c_node *setter(const struct hone_coder_input *in,
                                        const struct hone_c_node *loop,
                                        const struct hone_c_node *place)
{
    const struct hone_c_node *s =
        loop->parent->kind == HONE_C_COMPOUND ? loop->parent->first : NULL;
    while (s && s->next != loop)
        s = s->next;
    return s && s->kind == HONE_C_BINARY && is_update(s) &&
                   is_same_text(in, hone_c_strip(s->first), place)
               ? s
               : NULL;
}

static const char *promote_at(const struct hone_coder_input *in, const struct hone_c_loop *l,
                              const struct hone_c_node *place)
{
    struct hone_c_edits e;
    hone_c_edits_init(&e, in->tree);
    const char *name = hone_fresh_name(in, "acc"), *words = hone_c_text(in->tree, place);
    for (const struct hone_c_node *n = l->node; n; n = hone_c_walk(l->node, n))
        if (n->kind == HONE_C_SUBSCRIPT && is_same_text(in, n, place))
            hone_c_replace(&e, n->begin, n->end, name);
    uint32_t begin = l->node->begin, end = hone_c_stmt_end(in->tree, l->node);
    const char *text = hone_c_edit_text(&e, begin, end), *start = words;
    const struct hone_c_node *set = setter(in, l->node, place);
    if (set) {
        begin = set->begin;
        start = hone_c_text(in->tree, set->last);
    }
    bool is_block = l->node->parent->kind == HONE_C_COMPOUND;
    struct hone_c_edits whole;
    hone_c_edits_init(&whole, in->tree);
    hone_c_replace(&whole, begin, end,
                   hone_pool_printf(in->pool, "%s%s %s = %s;\n%s\n%s = %s;%s",
                                    is_block ? "" : "{\n", place->type, name, start, text, words,
                                    name, is_block ? "" : "\n}"));
    return hone_finish_edits(&whole);
}

/* X op= e, or X = X op e in either order. */
static bool adds_to_itself(const struct hone_coder_input *in, const struct hone_c_node *stmt)
{
    const struct hone_c_node *value = hone_c_strip(stmt->last);
    if (!is_update(stmt) || stmt->kind == HONE_C_ASSIGN_OP || value->kind != HONE_C_BINARY)
        return is_update(stmt) && stmt->kind == HONE_C_ASSIGN_OP;
    const struct hone_c_node *place = hone_c_strip(stmt->first);
    return is_same_text(in, hone_c_strip(value->first), place) ||
           is_same_text(in, hone_c_strip(value->last), place);
}

static const char *promote(const struct hone_coder_input *in, const struct hone_c_loop *l)
{
    for (const struct hone_c_node *n = l->is_innermost ? l->node->body : NULL; n;
         n = hone_c_walk(l->node->body, n)) {
        if ((n->kind != HONE_C_ASSIGN_OP && n->kind != HONE_C_BINARY) || !adds_to_itself(in, n))
            continue;
        const struct hone_c_node *place = hone_c_strip(n->first);
        const struct hone_c_loop *around = loop_of_sum(in, l, place);
        if (around)
            return promote_at(in, around, place);
    }
    return NULL;
}

const char *hone_c_normal_step(const struct hone_coder_input *in)
{
    static const char *(*const steps[])(const struct hone_coder_input *,
                                        const struct hone_c_loop *) = {swap, fuse, promote};
    for (size_t s = 0; s < HONE_COUNTOF(steps); s++)
        for (size_t i = 0; i < in->nest.n; i++) {
            const char *text = steps[s](in, &in->nest.loops[i]);
            if (text)
                return text;
        }
    return NULL;
}
