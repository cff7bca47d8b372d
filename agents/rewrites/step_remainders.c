/* SPDX-License-Identifier: Apache-2.0 */
/* C18: remainders and quotients of what grows with a loop's counter are kept in step with it.
 *
 *     for (i = 0; i < L; i++) y[i] = x[(i + j) % N];
 *
 *     r = j % N;
 *     for (i = 0; i < L; i++) { y[i] = x[r]; r += 1; while (r >= N) r -= N; }
 *
 * A division takes ten to forty cycles and keeps its loop from all that follows on it. It holds
 * where the divisor is a size of the task or a number above zero, and where the first value is
 * known not to be below zero: a remainder of C has the sign of what is divided. */
#include "agents/rewrites/coder_rules.h"

#include <string.h>

#include "workspace/task/task.h"

enum { MAX_REMAINDERS = 8, MOST_STEP = 64 };

struct remainder { /* first % divisor, first / divisor */
    const struct hone_c_node *first, *divisor;
    int64_t step;                /* of `first` for each iteration */
    const char *rest, *quotient; /* names; NULL: no such one is asked for */
};

struct remainders { /* of one loop */
    const struct hone_coder_input *in;
    const struct hone_c_loop *loop;
    struct remainder v[MAX_REMAINDERS];
    size_t n;
};

/* ---- what is known ---- */

static bool is_size(const struct hone_coder_input *in, const struct hone_c_node *decl)
{
    for (size_t i = 0; in->task && decl && i < in->task->n_axes; i++)
        if (decl->kind == HONE_C_PARAM && strcmp(decl->name, in->task->axes[i].name) == 0)
            return !strchr(decl->type, '*') && !hone_c_writes(in->nest.function, decl);
    return false;
}

static bool is_never_below_zero(const struct hone_coder_input *in, const struct hone_c_poly *p,
                                const struct hone_c_node *at);

/* A size, or a counter of a loop around that starts at nothing below zero. */
static bool is_factor_whole(const struct hone_coder_input *in, const struct hone_c_node *decl,
                            const struct hone_c_node *at)
{
    if (is_size(in, decl))
        return true;
    for (size_t i = 0; decl && i < in->nest.n; i++) {
        const struct hone_c_loop *l = &in->nest.loops[i];
        if (l->var != decl || !l->declares_var || !l->is_canonical ||
            !hone_c_contains(l->node->body, at))
            continue;
        struct hone_c_poly lower = hone_c_poly_of(in->nest.function, l->lower);
        return is_never_below_zero(in, &lower, l->node);
    }
    return false;
}

static bool is_never_below_zero(const struct hone_coder_input *in, const struct hone_c_poly *p,
                                const struct hone_c_node *at)
{
    for (size_t i = 0; i < p->n; i++)
        for (size_t f = 0; f < p->terms[i].n_factors; f++)
            if (!is_factor_whole(in, p->terms[i].factors[f].decl, at))
                return false;
    for (size_t i = 0; i < p->n; i++)
        if (p->terms[i].k < 0)
            return false;
    return p->is_known;
}

static bool is_signed_whole(const char *type)
{
    bool is_whole = strstr(type, "int") || strstr(type, "long") || strstr(type, "ptrdiff_t");
    return is_whole && !strstr(type, "unsigned") && !strstr(type, "uint") && !strchr(type, '*');
}

/* Does the expression read nothing but scalars that keep their value in the loop, its counter
 * aside? */
static bool is_steady(const struct hone_c_loop *l, const struct hone_c_node *expr)
{
    for (const struct hone_c_node *n = expr; n; n = hone_c_walk(expr, n)) {
        bool is_plain = n->kind == HONE_C_REF || n->kind == HONE_C_BINARY ||
                        n->kind == HONE_C_PAREN || n->kind == HONE_C_CONST ||
                        n->kind == HONE_C_CAST;
        if (!is_plain)
            return false;
        if (n->kind == HONE_C_REF && n->decl != l->var &&
            (!n->decl || hone_c_contains(l->node, n->decl) || hone_c_writes(l->node, n->decl)))
            return false;
    }
    return true;
}

/* ---- a loop's ---- */

static bool read_one(const struct hone_coder_input *in, const struct hone_c_loop *l,
                     const struct hone_c_node *n, struct remainder *ret)
{
    bool is_division = n->kind == HONE_C_BINARY && (!strcmp(n->op, "%") || !strcmp(n->op, "/"));
    if (!is_division || !is_signed_whole(n->type) || !hone_c_uses(n->first, l->var) ||
        !is_steady(l, n->first) || !is_steady(l, n->last) || hone_c_uses(n->last, l->var))
        return false;
    const struct hone_c_node *f = in->nest.function;
    struct hone_c_poly first = hone_c_poly_of(f, n->first), by = hone_c_poly_beside(&first, l->var),
                       divisor = hone_c_poly_of(f, n->last), lower = hone_c_poly_of(f, l->lower);
    int64_t step = 0, number = 0;
    bool is_fixed = hone_c_poly_is_number(&divisor, &number);
    const struct hone_c_node *name = hone_c_bare(n->last); /* no cast around it */
    if (!hone_c_poly_is_number(&by, &step) || step < 1 || step > MOST_STEP ||
        (is_fixed ? number < 1 || (number & (number - 1)) == 0
                  : name->kind != HONE_C_REF || !is_size(in, name->decl)) ||
        !is_never_below_zero(in, &first, n) || !is_never_below_zero(in, &lower, l->node))
        return false;
    *ret = (struct remainder){.first = n->first, .divisor = n->last, .step = step};
    return true;
}

static struct remainder *find(struct remainders *all, const struct remainder *like)
{
    const struct hone_c_tree *tree = all->in->tree;
    for (size_t i = 0; i < all->n; i++)
        if (hone_c_is_same_text(tree, all->v[i].first, like->first) &&
            hone_c_is_same_text(tree, all->v[i].divisor, like->divisor))
            return &all->v[i];
    if (all->n == MAX_REMAINDERS)
        return NULL;
    all->v[all->n] = *like;
    return &all->v[all->n++];
}

static bool is_wide(const char *type)
{
    return strstr(type, "long") || strstr(type, "int64_t") || strstr(type, "ptrdiff_t");
}

static bool has_jump(const struct hone_c_node *body)
{
    for (const struct hone_c_node *n = body; n; n = hone_c_walk(body, n))
        if (n->kind == HONE_C_JUMP || n->kind == HONE_C_OTHER)
            return true;
    return false;
}

/* "i_rest", "i2_rest": those of one loop are never one. */
static const char *name_of(const struct remainders *all, const struct remainder *r,
                           const char *what)
{
    const char *counter = all->loop->var->name;
    size_t i = (size_t)(r - all->v);
    return hone_fresh_name(all->in,
                           i ? hone_pool_printf(all->in->pool, "%s%zu_%s", counter, i + 1, what)
                             : hone_pool_printf(all->in->pool, "%s_%s", counter, what));
}

/* Those of an innermost loop; edits: NULL to count them alone. */
static void read_loop(struct remainders *all, struct hone_c_edits *edits)
{
    const struct hone_c_loop *l = all->loop;
    const struct hone_c_node *body = l->node->body;
    struct hone_pool *pool = all->in->pool;
    if (!l->is_innermost || !l->is_canonical || !l->is_unit_step || !l->declares_var ||
        l->is_fallback || l->has_parallel || l->has_simd || l->begin != l->node->begin ||
        !is_signed_whole(l->var->type) || has_jump(body))
        return;
    for (const struct hone_c_node *n = body; n; n = hone_c_walk(body, n)) {
        struct remainder one, *r = read_one(all->in, l, n, &one) ? find(all, &one) : NULL;
        if (!r)
            continue;
        const char **name = n->op[0] == '%' ? &r->rest : &r->quotient;
        if (!*name)
            *name = name_of(all, r, n->op[0] == '%' ? "rest" : "quotient");
        if (edits) /* in the type that it has: what follows may wrap, or compare without a sign */
            hone_c_replace(edits, n->begin, n->end,
                           is_wide(n->type) ? *name
                                            : hone_pool_printf(pool, "((%s)%s)", n->type, *name));
    }
}

/* ---- the text ---- */

/* first, divided as op says, where the loop begins. */
static const char *start_text(const struct remainders *all, const struct remainder *r, char op)
{
    struct hone_c_edits e, none;
    hone_c_edits_init(&e, all->in->tree);
    hone_c_edits_init(&none, all->in->tree);
    hone_c_replace_refs(&e, r->first, all->loop->var,
                        hone_pool_printf(all->in->pool, "((%s)%s)",
                                         hone_type_text(all->in, all->loop->var),
                                         hone_lower_text(all->in, all->loop)));
    return hone_pool_printf(all->in->pool, "(%s) %c %s",
                            hone_c_edit_text(&e, r->first->begin, r->first->end), op,
                            hone_c_edit_text(&none, r->divisor->begin, r->divisor->end));
}

static void put_step(const struct remainder *r, const char *rest, const char *divisor,
                     struct hone_buf *out)
{
    if (r->step == 1 && !r->quotient) {
        hone_buf_printf(out, "%s = %s + 1 < %s ? %s + 1 : 0;\n", rest, rest, divisor, rest);
        return;
    }
    hone_buf_printf(out, "%s += %lld;\nwhile (%s >= %s) {\n%s -= %s;\n", rest, (long long)r->step,
                    rest, divisor, rest, divisor);
    if (r->quotient)
        hone_buf_printf(out, "%s++;\n", r->quotient);
    hone_buf_str(out, "}\n");
}

static void put_loop(const struct remainders *all, struct hone_c_edits *inner,
                     struct hone_c_edits *e)
{
    const struct hone_c_node *loop = all->loop->node;
    struct hone_pool *pool = all->in->pool;
    struct hone_c_edits none;
    hone_c_edits_init(&none, all->in->tree);
    HONE_CLEANUP(hone_buf_done) struct hone_buf head = HONE_BUF_INIT, step = HONE_BUF_INIT;
    for (size_t i = 0; i < all->n; i++) {
        const struct remainder *r = &all->v[i];
        const char *rest = r->rest ? r->rest : name_of(all, r, "rest"),
                   *divisor = hone_c_edit_text(&none, r->divisor->begin, r->divisor->end);
        hone_buf_printf(&head, "int64_t %s = %s;\n", rest, start_text(all, r, '%'));
        if (r->quotient)
            hone_buf_printf(&head, "int64_t %s = %s;\n", r->quotient, start_text(all, r, '/'));
        put_step(r, rest, divisor, &step);
    }
    const char *front = hone_c_edit_text(&none, loop->begin, loop->body->begin);
    hone_c_replace(e, loop->begin, hone_c_stmt_end(all->in->tree, loop),
                   hone_pool_printf(pool, "{\n%s%s{\n{\n%s\n}\n%s}\n}", head.data, front,
                                    hone_body_text(inner, loop->body), step.data));
}

/* ---- the rule ---- */

static size_t sites(const struct hone_coder_input *in, struct hone_coder_site *ret, size_t max)
{
    size_t n = 0;
    for (size_t i = 0; i < in->nest.n; i++) {
        struct remainders all = {.in = in, .loop = &in->nest.loops[i]};
        read_loop(&all, NULL);
        n += all.n;
    }
    if (n == 0 || max == 0)
        return 0;
    const struct hone_c_node *f = in->nest.function;
    ret[0] = hone_site(f, f->begin, f->end, "every innermost loop");
    ret[0].evidence =
        hone_pool_printf(in->pool, "%zu remainder(s) of what grows with a counter", n);
    return 1;
}

static char *apply(const struct hone_coder_input *in, const struct hone_coder_site *site,
                   struct hone_err *err)
{
    struct hone_c_edits e;
    size_t n = 0;
    (void)site;
    hone_c_edits_init(&e, in->tree);
    for (size_t i = 0; i < in->nest.n; i++) {
        struct remainders all = {.in = in, .loop = &in->nest.loops[i]};
        struct hone_c_edits inner;
        hone_c_edits_init(&inner, in->tree);
        read_loop(&all, &inner);
        if (all.n == 0)
            continue;
        put_loop(&all, &inner, &e);
        n += all.n;
    }
    if (n == 0) {
        hone_fail(err, HONE_E_ARG, "no loop has a remainder that grows with its counter");
        return NULL;
    }
    if (!strstr(in->tree->source, "stdint.h") && !strstr(in->tree->source, "inttypes.h"))
        hone_c_replace(&e, 0, 0, "#include <stdint.h>\n");
    return hone_finish_edits(&e);
}

const struct hone_rewrite hone_rewrite_step_remainders = {
    .name = "step_remainders",
    .strategy = "C18",
    .words = "keep remainders in step with the counter",
    .sites = sites,
    .apply = apply,
};
