/* SPDX-License-Identifier: Apache-2.0 */
/* C14: a loop whose iterations ask each time whether they are at a border runs in three parts: the
 * first iterations and the last ones as they were, those between them without the questions.
 *
 *     for (x = 0; x < w; x++) { if (x == 0 || x == w - 1) continue; ... }
 *
 * Iterations keep their order, so nothing has to be independent. A question is a comparison of the
 * loop's variable and what does not change in the loop; counters of inner loops may stand in it,
 * with their least and most values (x + dx < 0). (x + dx + w) % w is one too: between the borders
 * it is x + dx. What stays the same there becomes 0 or 1 in the text, and compilers leave out the
 * rest. Inner loops that ask too are split in the middle part.
 *
 * Where values are unsigned only the plainest forms count, for a difference below 0 wraps. */
#include "agents/rewrites/coder_rules.h"

#include <string.h>

enum { MAX_QUESTIONS = 32, MAX_BODY = 6000, MAX_DEPTH = 4, MOST_AT_START = 64 };

struct question {
    const struct hone_c_node *node;
    const char *answer; /* its text between the borders */
    const char *first;  /* the first iteration in which that holds; NULL: any */
    const char *end;    /* the first one behind; NULL: any */
};

struct split {
    const struct hone_coder_input *in;
    const struct hone_c_loop *loop;
    struct question q[MAX_QUESTIONS];
    size_t n;
};

struct range { /* sums at the loop's place */
    struct hone_c_poly least, most;
};

/* ---- sums ---- */

static struct hone_c_poly number(int64_t value)
{
    struct hone_c_poly p = {.is_known = true, .n = value != 0};
    p.terms[0] = (struct hone_c_term){.k = value};
    return p;
}

static struct hone_c_poly plus(const struct hone_c_poly *a, int64_t value)
{
    const struct hone_c_poly b = number(value);
    return hone_c_poly_sum(a, &b, 1);
}

/* "(long)w - 1" */
static const char *text_of(const struct hone_coder_input *in, const struct hone_c_poly *p,
                           const char *type)
{
    const char *out = "";
    for (size_t i = 0; i < p->n; i++) {
        const struct hone_c_term *t = &p->terms[i];
        int64_t k = t->k < 0 ? -t->k : t->k;
        const char *product = "";
        for (size_t f = 0; f < t->n_factors; f++)
            product = hone_pool_printf(in->pool, "%s%s%s%s", product, f ? " * " : "", type,
                                       t->factors[f].name);
        if (t->n_factors == 0 || k != 1)
            product = hone_pool_printf(in->pool, "%s%s%lld", product, *product ? " * " : "",
                                       (long long)k);
        out =
            hone_pool_printf(in->pool, "%s%s%s", out,
                             i == 0 ? (t->k < 0 ? "-" : "") : (t->k < 0 ? " - " : " + "), product);
    }
    return *out ? out : "0";
}

/* Takes one times the name from p; false: it stands there otherwise, or not at all. */
static bool take_name(struct hone_c_poly *p, const struct hone_c_node *decl)
{
    size_t at = p->n;
    for (size_t i = 0; i < p->n; i++)
        for (size_t f = 0; f < p->terms[i].n_factors; f++) {
            if (p->terms[i].factors[f].decl != decl)
                continue;
            if (at != p->n || p->terms[i].n_factors != 1 || p->terms[i].k != 1)
                return false;
            at = i;
        }
    if (at == p->n)
        return false;
    p->terms[at] = p->terms[--p->n];
    return true;
}

/* Does the name mean at the loop what it means in each iteration, and where a local was set from it?
 * Nothing sets it. A counter of a loop around makes triangles, not borders. */
static bool is_steady(const struct split *s, const struct hone_c_node *decl)
{
    const struct hone_c_node *function = s->in->nest.function;
    if (hone_c_contains(s->loop->node, decl) || !hone_c_contains(function, decl) ||
        strchr(decl->type, '*') || hone_c_is_floating(decl->type))
        return false;
    return !hone_c_writes(function, decl);
}

/* Does the declaration's name mean another one at the place, declared in a block between? */
static bool is_hidden(const struct split *s, const struct hone_c_node *decl,
                      const struct hone_c_node *place)
{
    const struct hone_c_node *f = s->in->nest.function;
    for (const struct hone_c_node *n = f; n; n = hone_c_walk(f, n))
        if (n->kind == HONE_C_VAR && n->begin > decl->begin && n->begin < place->begin &&
            strcmp(n->name, decl->name) == 0 && hone_c_contains(n->parent->parent, place))
            return true;
    return false;
}

/* Do the sum's names mean at the place what they mean in it? */
static bool is_visible(const struct split *s, const struct hone_c_poly *p,
                       const struct hone_c_node *place)
{
    for (size_t i = 0; i < p->n; i++)
        for (size_t f = 0; f < p->terms[i].n_factors; f++)
            if (p->terms[i].factors[f].decl && is_hidden(s, p->terms[i].factors[f].decl, place))
                return false;
    return true;
}

static bool is_invariant(const struct split *s, const struct hone_c_poly *p)
{
    for (size_t i = 0; i < p->n; i++)
        for (size_t f = 0; f < p->terms[i].n_factors; f++)
            if (p->terms[i].factors[f].decl && !is_steady(s, p->terms[i].factors[f].decl))
                return false;
    return p->is_known && is_visible(s, p, s->loop->node);
}

/* The loop inside of s->loop, around the node, that counts with the name; NULL: none. */
static const struct hone_c_loop *counter_of(const struct split *s, const struct hone_c_node *node,
                                            const struct hone_c_node *decl)
{
    for (size_t i = 0; decl && i < s->in->nest.n; i++) {
        const struct hone_c_loop *m = &s->in->nest.loops[i];
        if (m->var == decl && m->is_canonical && m->is_unit_step && m != s->loop &&
            hone_c_contains(s->loop->node, m->node) && hone_c_contains(m->node->body, node))
            return m;
    }
    return NULL;
}

/* Is the sum made of what the expression is made of? */
static bool has_a_term_of(const struct split *s, const struct hone_c_poly *p,
                          const struct hone_c_node *expr)
{
    struct hone_c_poly other = hone_c_poly_of(s->in->nest.function, expr);
    for (size_t i = 0; other.is_known && i < other.n; i++)
        for (size_t k = 0; other.terms[i].n_factors > 0 && k < p->n; k++)
            if (hone_c_same_factors(&other.terms[i], &p->terms[k]) && other.terms[i].k > 0 &&
                p->terms[k].k > 0)
                return true;
    return false;
}

/* What p comes to over the counters of inner loops around the node. */
static bool range_of(const struct split *s, const struct hone_c_node *node,
                     const struct hone_c_poly *p, struct range *ret)
{
    *ret = (struct range){number(0), number(0)};
    for (size_t i = 0; p->is_known && i < p->n; i++) {
        struct hone_c_poly one = {.is_known = true, .n = 1};
        one.terms[0] = p->terms[i];
        const struct hone_c_loop *m =
            one.terms[0].n_factors == 1 ? counter_of(s, node, one.terms[0].factors[0].decl) : NULL;
        if (!m) {
            ret->least = hone_c_poly_sum(&ret->least, &one, 1);
            ret->most = hone_c_poly_sum(&ret->most, &one, 1);
            continue;
        }
        struct hone_c_poly k = number(one.terms[0].k);
        struct hone_c_poly low = hone_c_poly_of(s->in->nest.function, m->lower),
                           high = hone_c_poly_of(s->in->nest.function, m->upper);
        high = plus(&high, m->is_inclusive ? 0 : -1);
        low = hone_c_poly_product(&low, &k);
        high = hone_c_poly_product(&high, &k);
        bool is_turned = one.terms[0].k < 0;
        ret->least = hone_c_poly_sum(&ret->least, is_turned ? &high : &low, 1);
        ret->most = hone_c_poly_sum(&ret->most, is_turned ? &low : &high, 1);
    }
    struct hone_c_poly width = hone_c_poly_sum(&ret->most, &ret->least, -1);
    return p->is_known && is_invariant(s, &ret->least) && is_invariant(s, &ret->most) &&
           !has_a_term_of(s, &width, s->loop->upper);
}

/* ---- questions ---- */

/* Also of what locals are set from, whose sums stand for them. */
static bool has_unsigned(const struct hone_c_node *top, int depth)
{
    for (const struct hone_c_node *n = top; n; n = hone_c_walk(top, n)) {
        const struct hone_c_node *d = n->kind == HONE_C_REF ? n->decl : NULL;
        if (strstr(n->type, "unsigned") || (d && d->kind == HONE_C_VAR && d->last &&
                                            depth < MAX_DEPTH && has_unsigned(d->last, depth + 1)))
            return true;
    }
    return false;
}

/* Is it in a loop's head? Its answer there would end the loop, or never. */
static bool is_in_head(const struct split *s, const struct hone_c_node *node)
{
    for (const struct hone_c_node *n = node; n != s->loop->node->body && n->parent; n = n->parent) {
        const struct hone_c_node *p = n->parent;
        if ((p->kind == HONE_C_FOR || p->kind == HONE_C_WHILE) && n != p->body)
            return true;
    }
    return false;
}

/* Is `at` near the loop's end: made of what its upper bound is made of, or of a number nearer to it
 * than to the start? */
static bool is_near_end(const struct split *s, const struct hone_c_poly *at)
{
    struct hone_c_poly upper = hone_c_poly_of(s->in->nest.function, s->loop->upper),
                       lower = hone_c_poly_of(s->in->nest.function, s->loop->lower);
    int64_t a, low, high;
    if (hone_c_poly_is_number(at, &a))
        return hone_c_poly_is_number(&upper, &high) && hone_c_poly_is_number(&lower, &low) &&
               a - low > high - a;
    return has_a_term_of(s, at, s->loop->upper);
}

/* A number is near to a start that is one. */
static bool is_near_start(const struct split *s, const struct hone_c_poly *at)
{
    struct hone_c_poly lower = hone_c_poly_of(s->in->nest.function, s->loop->lower);
    int64_t a, low;
    return !hone_c_poly_is_number(at, &a) || (hone_c_poly_is_number(&lower, &low) &&
                                              a - low >= -MOST_AT_START && a - low < MOST_AT_START);
}

static const struct {
    const char *op, *turned; /* turned: with the sides changed */
    bool is_low, is_high;    /* its answer behind a border at the start, before one at the end */
    int first, end;          /* how far from the border that begins and ends */
} comparisons[] = {{"<", ">", false, true, 0, 0},    {"<=", ">=", false, true, 1, 1},
                   {">", "<", true, false, 1, 1},    {">=", "<=", true, false, 0, 0},
                   {"==", "==", false, false, 1, 0}, {"!=", "!=", true, true, 1, 0}};

/* In unsigned arithmetic nothing may be below 0: x + 1, and a number or, at the end, what the bound
 * is made of. */
static bool may_be_unsigned(const struct split *s, const struct hone_c_poly *own,
                            const struct hone_c_poly *other, bool is_end)
{
    struct hone_c_poly lower = hone_c_poly_of(s->in->nest.function, s->loop->lower);
    int64_t value;
    if (!hone_c_poly_is_number(own, &value) || value < 0)
        return false;
    return is_end ? strstr(s->loop->var->type, "unsigned") ||
                        (hone_c_poly_is_number(&lower, &value) && value >= 0)
                  : hone_c_poly_is_number(other, &value) && value >= 0;
}

static bool read_comparison(struct split *s, const struct hone_c_node *node, struct question *ret)
{
    const struct hone_c_node *f = s->in->nest.function;
    struct hone_c_poly own = hone_c_poly_of(f, node->first), other = hone_c_poly_of(f, node->last);
    const char *op = node->op;
    size_t row = 0;
    if (!own.is_known || !other.is_known)
        return false;
    if (!take_name(&own, s->loop->var)) {
        struct hone_c_poly swap = own;
        own = other;
        other = swap;
        if (!take_name(&own, s->loop->var))
            return false;
        for (size_t i = 0; i < HONE_COUNTOF(comparisons); i++)
            if (strcmp(node->op, comparisons[i].op) == 0)
                op = comparisons[i].turned;
    }
    while (row < HONE_COUNTOF(comparisons) && strcmp(op, comparisons[row].op) != 0)
        row++;
    struct hone_c_poly at = hone_c_poly_sum(&other, &own, -1);
    struct range r;
    if (row == HONE_COUNTOF(comparisons) || !range_of(s, node, &at, &r))
        return false;
    bool is_end = is_near_end(s, &r.least);
    if (!is_end && !is_near_start(s, &r.most))
        return false;
    if (has_unsigned(node, 0) && !may_be_unsigned(s, &own, &other, is_end))
        return false;
    struct hone_c_poly first = plus(&r.most, comparisons[row].first),
                       end = plus(&r.least, comparisons[row].end);
    *ret = (struct question){.node = node};
    ret->answer = (is_end ? comparisons[row].is_high : comparisons[row].is_low) ? "1" : "0";
    if (is_end)
        ret->end = text_of(s->in, &end, "(long)");
    else
        ret->first = text_of(s->in, &first, "(long)");
    return true;
}

/* (x + dx + w) % w */
static bool read_wrap(struct split *s, const struct hone_c_node *node, struct question *ret)
{
    const struct hone_c_node *f = s->in->nest.function, *width = hone_c_strip(node->last);
    struct hone_c_poly sum = hone_c_poly_of(f, node->first), w = hone_c_poly_of(f, node->last);
    if (!width || width->kind != HONE_C_REF || !width->decl || !sum.is_known ||
        has_unsigned(node, 0) || !is_invariant(s, &w))
        return false;
    struct hone_c_poly less = hone_c_poly_sum(&sum, &w, -1);
    if (less.n < sum.n) /* x + w: once around */
        sum = less;
    struct hone_c_poly rest = sum;
    struct range r;
    if (!take_name(&rest, s->loop->var) || !range_of(s, node, &rest, &r) ||
        !is_visible(s, &sum, node))
        return false;
    struct hone_c_poly zero = number(0), first = hone_c_poly_sum(&zero, &r.least, -1),
                       end = hone_c_poly_sum(&w, &r.most, -1);
    const char *answer = hone_pool_printf(s->in->pool, "(%s)", text_of(s->in, &sum, ""));
    if (strcmp(node->type, "int") != 0) /* a wider w makes it wider */
        answer = hone_pool_printf(s->in->pool, "((%s)%s)", node->type, answer);
    *ret = (struct question){.node = node,
                             .answer = answer,
                             .first = text_of(s->in, &first, "(long)"),
                             .end = text_of(s->in, &end, "(long)")};
    return true;
}

/* Labels may not stand in a function twice. */
static bool is_label(const struct hone_c_node *n, const char *text)
{
    size_t len = 0;
    while (hone_is_word_char(text[len]))
        len++;
    return n->kind == HONE_C_OTHER && len > 0 && strncmp(text, "default", 7) != 0 &&
           text[len + strspn(text + len, " ")] == ':';
}

/* Does a jump leave the loop for what stands behind it, or go to a label? */
static bool has_jump(const struct hone_coder_input *in, const struct hone_c_loop *l)
{
    for (const struct hone_c_node *n = l->node; n; n = hone_c_walk(l->node, n)) {
        const char *text = in->tree->source + n->begin;
        if (is_label(n, text))
            return true;
        if (n->kind != HONE_C_JUMP || strncmp(text, "return", 6) == 0 ||
            strncmp(text, "continue", 8) == 0)
            continue;
        const struct hone_c_node *p = n->parent;
        while (p != l->node && p->kind != HONE_C_FOR && p->kind != HONE_C_WHILE)
            p = p->parent;
        if (p == l->node || strncmp(text, "break", 5) != 0)
            return true;
    }
    return false;
}

/* May something else set what the loop runs to: a call, or a store through a pointer? */
static bool is_bound_open(const struct hone_coder_input *in, const struct hone_c_loop *l)
{
    for (const struct hone_c_node *n = l->upper; n; n = hone_c_walk(l->upper, n))
        if (n->kind == HONE_C_MEMBER || (n->kind == HONE_C_UNARY && strcmp(n->op, "*") == 0) ||
            (n->kind == HONE_C_REF && n->decl && n->decl->kind == HONE_C_VAR &&
             !hone_c_contains(in->nest.function, n->decl) && strncmp(n->type, "const ", 6) != 0))
            return true;
    return false;
}

static void read_split(const struct hone_coder_input *in, const struct hone_c_loop *l,
                       struct split *s)
{
    struct hone_c_poly lower, upper;
    int64_t low, high;
    *s = (struct split){.in = in, .loop = l};
    if (!l->is_canonical || strstr(l->var->type, "char") || strstr(l->var->type, "short") ||
        hone_has_word(hone_c_text(in->tree, l->node), "static") || !l->is_unit_step ||
        !l->declares_var || l->is_fallback || l->has_parallel || l->has_simd ||
        l->node->end - l->node->begin > MAX_BODY || has_jump(in, l) || is_bound_open(in, l))
        return;
    lower = hone_c_poly_of(in->nest.function, l->lower);
    upper = hone_c_poly_of(in->nest.function, l->upper);
    if (hone_c_poly_is_number(&lower, &low) && hone_c_poly_is_number(&upper, &high) &&
        high - low < MOST_AT_START)
        return; /* most of it may be borders */
    for (const struct hone_c_node *n = l->node->body; n && s->n < MAX_QUESTIONS;
         n = hone_c_walk(l->node->body, n)) {
        bool is_wrap = n->kind == HONE_C_BINARY && strcmp(n->op, "%") == 0;
        if (n->kind != HONE_C_BINARY || is_in_head(s, n))
            continue;
        s->n += is_wrap ? read_wrap(s, n, &s->q[s->n]) : read_comparison(s, n, &s->q[s->n]);
    }
}

/* ---- text ---- */

/* The outermost loops of the range that ask, first of those that begin at or behind `from`. */
static const struct hone_c_loop *next_inner(const struct split *s, uint32_t from,
                                            struct split *inner)
{
    for (size_t i = 0; i < s->in->nest.n; i++) {
        const struct hone_c_loop *m = &s->in->nest.loops[i];
        if (m->begin < from || m == s->loop || !hone_c_contains(s->loop->node, m->node))
            continue;
        read_split(s->in, m, inner);
        if (inner->n > 0)
            return m;
    }
    return NULL;
}

static const char *split_text(const struct split *s, const struct split *const *around,
                              size_t n_around);

static bool is_edited(const struct hone_c_edits *e, const struct hone_c_node *node)
{
    for (size_t k = 0; k < e->n; k++)
        if (e->v[k].begin < node->end && node->begin < e->v[k].end)
            return true;
    return false;
}

/* The loop's body with what the loops around[] answer, and with inner loops split. */
static const char *body_of(const struct split *s, const struct split *const *around,
                           size_t n_around, bool is_deep)
{
    struct hone_c_edits e;
    struct split *inner = hone_pool_alloc(s->in->pool, sizeof(*inner));
    uint32_t from = s->loop->node->body->begin;
    hone_c_edits_init(&e, s->in->tree);
    const struct hone_c_loop *m = is_deep ? next_inner(s, from, inner) : NULL;
    for (; m && n_around < MAX_DEPTH; m = next_inner(s, from, inner)) {
        from = hone_c_stmt_end(s->in->tree, m->node);
        hone_c_replace(&e, m->begin, from, split_text(inner, around, n_around));
    }
    for (size_t a = 0; a < n_around; a++)
        for (size_t i = 0; i < around[a]->n; i++) {
            const struct question *q = &around[a]->q[i];
            if (!is_edited(&e, q->node))
                hone_c_replace(&e, q->node->begin, q->node->end, q->answer);
        }
    return hone_body_text(&e, s->loop->node->body);
}

/* "if (x_head < 1) x_head = 1;" for each border that differs. */
static const char *borders(const struct split *s, const char *name, bool is_end)
{
    const char *out = "";
    for (size_t i = 0; i < s->n; i++) {
        const char *at = is_end ? s->q[i].end : s->q[i].first;
        bool is_known = !at;
        for (size_t k = 0; k < i && !is_known; k++) {
            const char *other = is_end ? s->q[k].end : s->q[k].first;
            is_known = other && strcmp(at, other) == 0;
        }
        if (!is_known)
            out = hone_pool_printf(s->in->pool, "%sif (%s %c %s)\n%s = %s;\n", out, name,
                                   is_end ? '>' : '<', at, name, at);
    }
    return out;
}

static const char *split_text(const struct split *s, const struct split *const *around,
                              size_t n_around)
{
    const struct hone_coder_input *in = s->in;
    const struct split *all[MAX_DEPTH + 1];
    const char *v = s->loop->var->name, *type = hone_type_text(in, s->loop->var);
    const char *lower = hone_lower_text(in, s->loop), *upper = hone_upper_text(in, s->loop);
    const char *head = hone_fresh_name(in, hone_pool_printf(in->pool, "%s_head", v)),
               *tail = hone_fresh_name(in, hone_pool_printf(in->pool, "%s_tail", v));
    for (size_t i = 0; i < n_around; i++)
        all[i] = around[i];
    all[n_around] = s;
    const char *edge = body_of(s, around, n_around, false),
               *middle = body_of(s, all, n_around + 1, true);
    return hone_pool_printf(
        in->pool,
        "{\nlong %s = %s, %s = %s;\n%sif (%s > (long)%s)\n%s = %s;\n%sif (%s < %s)\n%s = %s;\n"
        "for (%s %s = %s; %s < (%s)%s; %s++) {\n%s}\n"
        "for (%s %s = (%s)%s; %s < (%s)%s; %s++) {\n%s}\n"
        "for (%s %s = (%s)%s; %s < %s; %s++) {\n%s}\n}",
        head, lower, tail, upper, borders(s, head, false), head, upper, head, upper,
        borders(s, tail, true), tail, head, tail, head, type, v, lower, v, type, head, v, edge,
        type, v, type, head, v, type, tail, v, middle, type, v, type, tail, v, upper, v, edge);
}

/* ---- the rewrite ---- */

/* Is it inside of a loop that is a site already? Those are split with it. */
static bool is_covered(const struct hone_coder_site *sites, size_t n,
                       const struct hone_c_loop *loop)
{
    for (size_t i = 0; i < n; i++)
        if (hone_c_contains(sites[i].node, loop->node))
            return true;
    return false;
}

static size_t sites(const struct hone_coder_input *in, struct hone_coder_site *ret, size_t max)
{
    struct split *s = hone_pool_alloc(in->pool, sizeof(*s));
    size_t n = 0;
    for (size_t i = 0; i < in->nest.n && n < max; i++) {
        const struct hone_c_loop *l = &in->nest.loops[i];
        if (is_covered(ret, n, l))
            continue;
        read_split(in, l, s);
        if (s->n == 0)
            continue;
        ret[n] = hone_site(l->node, l->begin, l->node->end, hone_loop_words(in, l));
        ret[n++].evidence = "each iteration asks whether it is at a border";
    }
    return n;
}

static char *apply(const struct hone_coder_input *in, const struct hone_coder_site *site,
                   struct hone_err *err)
{
    const struct hone_c_loop *l = hone_c_loop_of(&in->nest, site->node);
    struct split *s = hone_pool_alloc(in->pool, sizeof(*s));
    if (l)
        read_split(in, l, s);
    if (!l || s->n == 0) {
        hone_fail(err, HONE_E_ARG, "no iteration of the loop asks whether it is at a border");
        return NULL;
    }
    struct hone_c_edits e;
    hone_c_edits_init(&e, in->tree);
    hone_c_replace(&e, l->begin, hone_c_stmt_end(in->tree, l->node), split_text(s, NULL, 0));
    return hone_finish_edits(&e);
}

const struct hone_rewrite hone_rewrite_split_borders = {
    .name = "split_borders",
    .strategy = "C14",
    .words = "split borders from the loop",
    .sites = sites,
    .apply = apply,
};
