/* SPDX-License-Identifier: Apache-2.0 */
/* C08: threads for a loop whose iterations share a scratch array alone, which each of them fills
 * before it reads it.
 *
 *     for (r) { for (p < P) t[p] = sum of a row of r; for (p < P) A[r, p] = t[p]; }
 *
 * Threads take the iterations, each with an array of its own on its stack. The last iteration runs
 * alone with the array itself, which holds at the end what it held. More elements than ROOM would
 * not fit on the stack, and little work does not pay: then the loop runs as it stood. */
#include "agents/rewrites/coder_rules.h"

#include <string.h>

enum { MAX_ACCESSES = 64 };

struct scratch {
    const struct hone_c_node *root; /* t */
    const struct hone_c_loop *fill; /* the first loop over p */
    const char *type;               /* of its elements */
};

/* v of X[v] with a loop's counter v, and that loop; NULL: it is another index. */
static const struct hone_c_loop *counter_loop(const struct hone_coder_input *in,
                                              const struct hone_c_access *a)
{
    const struct hone_c_poly *p = &a->index;
    if (!p->is_known || p->n != 1 || p->terms[0].k != 1 || p->terms[0].n_factors != 1)
        return NULL;
    for (size_t i = 0; i < in->nest.n; i++) {
        const struct hone_c_loop *l = &in->nest.loops[i];
        if (l->var == p->terms[0].factors[0].decl && l->is_canonical && l->is_unit_step &&
            l->declares_var && hone_c_contains(l->node->body, a->node))
            return l;
    }
    return NULL;
}

/* The same text, and no name in it is another one's there. */
static bool has_same_bounds(const struct hone_coder_input *in, const struct hone_c_loop *outer,
                            const struct hone_c_loop *a, const struct hone_c_loop *b)
{
    return a == b ||
           (a->is_inclusive == b->is_inclusive && hone_c_is_invariant(b->lower, outer->node) &&
            hone_c_is_invariant(b->upper, outer->node) &&
            hone_c_is_same_text(in->tree, a->lower, b->lower) &&
            hone_c_is_same_text(in->tree, a->upper, b->upper));
}

/* X[v] = ..., a statement that does not read X. */
static bool is_plain_write(const struct hone_c_access *a)
{
    const struct hone_c_node *up = a->node->parent;
    while (up && up->kind == HONE_C_PAREN)
        up = up->parent;
    return up && up->kind == HONE_C_BINARY && strcmp(up->op, "=") == 0 && a->is_write &&
           !a->is_read && hone_c_is_stmt(up) && !hone_c_uses(up->last, a->root);
}

/* Is the loop run in all iterations of the other one alike, or in none? */
static bool is_run_alike(const struct hone_coder_input *in, const struct hone_c_loop *outer,
                         const struct hone_c_loop *l)
{
    for (const struct hone_c_node *n = outer->node; n; n = hone_c_walk(outer->node, n))
        if (n->kind == HONE_C_JUMP || n->kind == HONE_C_OTHER)
            return false;
    for (const struct hone_c_node *n = l->node; n != outer->node; n = n->parent) {
        const struct hone_c_loop *at = hone_c_loop_of(&in->nest, n);
        bool is_plain = n->kind == HONE_C_COMPOUND ||
                        (at && at->is_canonical && hone_c_is_invariant(at->lower, outer->node) &&
                         hone_c_is_invariant(at->upper, outer->node));
        if (!is_plain)
            return false;
    }
    return true;
}

/* The loop that fills the array: the first that names it, whatever runs later names what it filled,
 * and nothing does where it did not run. */
static const struct hone_c_loop *filling(const struct hone_coder_input *in,
                                         const struct hone_c_loop *l,
                                         const struct hone_c_access *all, size_t n,
                                         const struct hone_c_node *root)
{
    const struct hone_c_access *first = NULL;
    for (size_t i = 0; i < n; i++)
        if (all[i].root == root && (!first || all[i].node->begin < first->node->begin))
            first = &all[i];
    const struct hone_c_loop *fill = first ? counter_loop(in, first) : NULL;
    int64_t lower;
    struct hone_c_poly from =
        fill ? hone_c_poly_of(in->nest.function, fill->lower) : (struct hone_c_poly){.n = 0};
    if (!fill || !is_plain_write(first) || !hone_c_is_always_reached(fill->node, first->node) ||
        fill->node->parent->kind != HONE_C_COMPOUND || !is_run_alike(in, l, fill) ||
        !hone_c_poly_is_number(&from, &lower) || lower != 0)
        return NULL;
    for (size_t i = 0; i < n; i++) {
        if (all[i].root != root)
            continue;
        const struct hone_c_loop *at = counter_loop(in, &all[i]);
        bool is_behind = at && at->node->begin >= fill->node->end;
        if (!at || (at != fill && !is_behind) || !has_same_bounds(in, l, fill, at) ||
            !hone_c_contains(fill->node->parent, at->node))
            return NULL;
    }
    return fill;
}

/* Every name of the array is an element of it: no pointer to it is kept. */
static bool is_only_indexed(const struct hone_c_node *function, const struct hone_c_node *root)
{
    for (const struct hone_c_node *n = function; n; n = hone_c_walk(function, n))
        if (n->kind == HONE_C_REF && n->decl == root && !hone_c_is_element(n))
            return false;
    return true;
}

/* "double" of double * and of double[70]; NULL: it is neither. */
static const char *element_type(const struct hone_coder_input *in, const struct hone_c_node *root)
{
    const char *open = strchr(root->type, '[');
    if (!open || open == root->type)
        return hone_element_type(in, root);
    size_t len = (size_t)(open - root->type) - (open[-1] == ' ');
    return strchr(open + 1, '[') || strchr(root->type, '*')
               ? NULL
               : hone_pool_strndup(in->pool, root->type, len);
}

static bool may_share(const struct hone_coder_input *in, const struct hone_c_loop *l)
{
    const char *why;
    bool has_form = l->depth == 0 && l->is_canonical && l->is_unit_step && l->declares_var &&
                    !l->is_innermost && !l->is_fallback && !l->is_small && !l->has_parallel &&
                    l->begin == l->node->begin && !strstr(l->var->type, "unsigned");
    return has_form && hone_may_thread(in, l) && !hone_is_cold(in, l) && !hone_c_writes_scalar(l) &&
           !hone_c_is_parallel(&in->nest, l, &why);
}

static bool read_scratch(const struct hone_coder_input *in, const struct hone_c_loop *l,
                         struct scratch *ret)
{
    struct hone_c_access all[MAX_ACCESSES];
    if (!may_share(in, l))
        return false;
    size_t n = hone_c_accesses(in->nest.function, l->node->body, all, MAX_ACCESSES);
    for (size_t i = 0; i < n && n <= MAX_ACCESSES; i++) {
        const struct hone_c_node *root = all[i].root;
        if (!all[i].is_write || !root || hone_c_contains(l->node, root) ||
            !is_only_indexed(in->nest.function, root) ||
            !hone_c_is_parallel_but(&in->nest, l, root))
            continue;
        *ret = (struct scratch){
            .root = root, .fill = filling(in, l, all, n, root), .type = element_type(in, root)};
        if (ret->fill && ret->type)
            return true;
    }
    return false;
}

static size_t sites(const struct hone_coder_input *in, struct hone_coder_site *ret, size_t max)
{
    size_t n = 0;
    for (size_t i = 0; i < in->nest.n && n < max; i++) {
        const struct hone_c_loop *l = &in->nest.loops[i];
        struct scratch s;
        if (!read_scratch(in, l, &s))
            continue;
        ret[n] = hone_site(l->node, l->begin, l->node->end, hone_loop_words(in, l));
        ret[n++].evidence = "iterations share a scratch array alone, which each fills at first";
    }
    return n;
}

static char *apply(const struct hone_coder_input *in, const struct hone_coder_site *site,
                   struct hone_err *err)
{
    const struct hone_c_loop *l = hone_c_loop_of(&in->nest, site->node);
    struct scratch s;
    if (!l || !read_scratch(in, l, &s)) {
        hone_fail(err, HONE_E_ARG, "the region is no loop with a scratch array");
        return NULL;
    }
    struct hone_c_edits e, none, of_body;
    hone_c_edits_init(&e, in->tree);
    hone_c_edits_init(&none, in->tree);
    hone_c_edits_init(&of_body, in->tree);
    const char *room = hone_add_tunable(&e, in, "ROOM", "4096"), *v = l->var->name,
               *own = hone_fresh_name(in, hone_pool_printf(in->pool, "%s_own", s.root->name)),
               *full = hone_fresh_name(in, hone_pool_printf(in->pool, "%s_full", v)),
               *type = hone_type_text(in, l->var), *lower = hone_lower_text(in, l),
               *upper = hone_upper_text(in, l);
    hone_c_replace_refs(&of_body, l->node->body, s.root, own);
    const char *text =
        hone_pool_printf(in->pool,
                         "if (%s <= %s) {\nconst %s %s = %s > %s ? %s - 1 : %s;\n"
                         "#pragma omp parallel for schedule(static)%s\n"
                         "for (%s %s = %s; %s < %s; %s++) {\n%s %s[%s];\n%s\n}\n"
                         "for (%s %s = %s; %s < %s; %s++) {\n%s\n}\n} else {\n%s\n}",
                         hone_upper_text(in, s.fill), room, type, full, upper, lower, upper, lower,
                         hone_if_clause(in, l), type, v, lower, v, full, v, s.type, own, room,
                         hone_body_text(&of_body, l->node->body), type, v, full, v, upper, v,
                         hone_body_text(&none, l->node->body),
                         hone_c_edit_text(&none, l->begin, hone_c_stmt_end(in->tree, l->node)));
    hone_c_replace(&e, l->begin, hone_c_stmt_end(in->tree, l->node), text);
    return hone_finish_edits(&e);
}

const struct hone_rewrite hone_rewrite_thread_scratch = {
    .name = "thread_scratch",
    .strategy = "C08",
    .words = "thread a loop, each thread with a scratch array of its own",
    .sites = sites,
    .apply = apply,
};
