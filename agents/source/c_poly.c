/* SPDX-License-Identifier: Apache-2.0 */
/* Index expressions as sums of products. Locals that are set once stand for their initialiser. */
#include "agents/source/c_nest.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_FOLLOW = 16 };

static bool same_factor(const struct hone_c_factor *a, const struct hone_c_factor *b)
{
    return a->decl == b->decl && (a->decl || strcmp(a->name, b->name) == 0);
}

bool hone_c_same_factors(const struct hone_c_term *a, const struct hone_c_term *b)
{
    if (a->n_factors != b->n_factors)
        return false;
    bool used[HONE_C_MAX_FACTORS] = {false};
    for (size_t i = 0; i < a->n_factors; i++) {
        size_t j = 0;
        while (j < b->n_factors && (used[j] || !same_factor(&a->factors[i], &b->factors[j])))
            j++;
        if (j == b->n_factors)
            return false;
        used[j] = true;
    }
    return true;
}

static void add_term(struct hone_c_poly *p, const struct hone_c_term *t)
{
    for (size_t i = 0; i < p->n; i++) {
        if (!hone_c_same_factors(&p->terms[i], t))
            continue;
        p->terms[i].k += t->k;
        if (p->terms[i].k == 0)
            p->terms[i] = p->terms[--p->n];
        return;
    }
    if (t->k == 0)
        return;
    if (p->n == HONE_C_MAX_TERMS)
        p->is_known = false;
    else
        p->terms[p->n++] = *t;
}

struct hone_c_poly hone_c_poly_product(const struct hone_c_poly *a, const struct hone_c_poly *b)
{
    struct hone_c_poly out = {.is_known = a->is_known && b->is_known};
    for (size_t i = 0; out.is_known && i < a->n; i++) {
        for (size_t j = 0; j < b->n; j++) {
            struct hone_c_term t = a->terms[i];
            if (t.n_factors + b->terms[j].n_factors > HONE_C_MAX_FACTORS ||
                __builtin_mul_overflow(t.k, b->terms[j].k, &t.k)) {
                out.is_known = false;
                break;
            }
            for (size_t f = 0; f < b->terms[j].n_factors; f++)
                t.factors[t.n_factors++] = b->terms[j].factors[f];
            add_term(&out, &t);
        }
    }
    return out;
}

struct hone_c_poly hone_c_poly_sum(const struct hone_c_poly *a, const struct hone_c_poly *b,
                                   int64_t sign)
{
    struct hone_c_poly out = *a;
    out.is_known = a->is_known && b->is_known;
    for (size_t i = 0; i < b->n; i++) {
        struct hone_c_term t = b->terms[i];
        t.k *= sign;
        add_term(&out, &t);
    }
    return out;
}

struct hone_c_poly hone_c_poly_beside(const struct hone_c_poly *p, const struct hone_c_node *var)
{
    struct hone_c_poly out = {.is_known = p->is_known};
    for (size_t i = 0; i < p->n && out.is_known; i++) {
        struct hone_c_poly one = {.is_known = true, .n = 1, .terms = {p->terms[i]}};
        struct hone_c_term *t = &one.terms[0];
        size_t n = 0;
        for (size_t f = t->n_factors; f-- > 0;) {
            if (t->factors[f].decl != var)
                continue;
            n++;
            t->factors[f] = t->factors[--t->n_factors];
        }
        out.is_known = n < 2;
        if (n == 1)
            out = hone_c_poly_sum(&out, &one, 1);
    }
    return out;
}

static struct hone_c_poly of(const struct hone_c_node *function, const struct hone_c_node *expr,
                             int depth);

/* A value of the type may be another one than what was put into it. */
static bool is_narrow(const char *type)
{
    static const char *const narrow[] = {"char",  "signed char",    "unsigned char",
                                         "short", "unsigned short", "_Bool",
                                         "float", "double"};
    if (strncmp(type, "const ", 6) == 0)
        type += 6;
    for (size_t i = 0; i < HONE_COUNTOF(narrow); i++)
        if (strcmp(type, narrow[i]) == 0)
            return true;
    return false;
}

/* Through parentheses and casts to an integer that holds every index. */
static const struct hone_c_node *strip(const struct hone_c_node *n)
{
    while (n && n->last &&
           (n->kind == HONE_C_PAREN || (n->kind == HONE_C_CAST && !is_narrow(n->type))))
        n = n->last;
    return n;
}

/* An index that a thread makes of its place is a variable of the kernel, as a loop's is. */
static bool names_thread(const struct hone_c_poly *p)
{
    for (size_t i = 0; i < p->n; i++)
        for (size_t f = 0; f < p->terms[i].n_factors; f++)
            if (!p->terms[i].factors[f].decl &&
                strncmp(p->terms[i].factors[f].name, "threadIdx", 9) == 0)
                return true;
    return false;
}

static struct hone_c_poly of_name(const struct hone_c_node *function, const struct hone_c_node *ref,
                                  int depth)
{
    const struct hone_c_node *d = ref->decl;
    bool is_fixed = d && d->kind == HONE_C_VAR && d->last && !strchr(d->type, '*') &&
                    !strchr(d->type, '[') && !is_narrow(d->type) && !hone_c_writes(function, d);
    if (is_fixed) {
        struct hone_c_poly inner = of(function, d->last, depth + 1);
        if (inner.is_known && !names_thread(&inner))
            return inner;
    }
    struct hone_c_poly out = {.is_known = true, .n = 1};
    out.terms[0] = (struct hone_c_term){.k = 1, .n_factors = 1, .factors = {{d, ref->name}}};
    return out;
}

/* The text is not at hand here; libclang gives literals no value in version 14, so the spelling is
 * kept in name. */
static struct hone_c_poly of_const(const struct hone_c_node *expr)
{
    struct hone_c_poly out = {.is_known = false};
    char *end = NULL;
    int64_t value = strtoll(expr->name, &end, 0);
    if (end == expr->name || strspn(end, "uUlL") != strlen(end))
        return out;
    out.is_known = true;
    struct hone_c_term t = {.k = value};
    add_term(&out, &t);
    return out;
}

static struct hone_c_poly of(const struct hone_c_node *function, const struct hone_c_node *expr,
                             int depth)
{
    struct hone_c_poly unknown = {.is_known = false};
    expr = strip(expr);
    if (!expr || depth > MAX_FOLLOW)
        return unknown;
    if (expr->kind == HONE_C_CONST)
        return of_const(expr);
    if (expr->kind == HONE_C_REF)
        return of_name(function, expr, depth);
    if (expr->kind == HONE_C_MEMBER && expr->first && expr->first->kind == HONE_C_REF &&
        !expr->first->decl) { /* threadIdx.x */
        struct hone_c_poly out = {.is_known = true, .n = 1};
        out.terms[0] =
            (struct hone_c_term){.k = 1, .n_factors = 1, .factors = {{NULL, expr->name}}};
        return out;
    }
    if (expr->kind == HONE_C_UNARY && strcmp(expr->op, "-") == 0) {
        struct hone_c_poly zero = {.is_known = true}, inner = of(function, expr->first, depth + 1);
        return hone_c_poly_sum(&zero, &inner, -1);
    }
    if (expr->kind != HONE_C_BINARY || !expr->op[0] || expr->op[1] || !strchr("+-*", expr->op[0]))
        return unknown;
    struct hone_c_poly a = of(function, expr->first, depth + 1),
                       b = of(function, expr->last, depth + 1);
    if (!a.is_known || !b.is_known)
        return unknown;
    return expr->op[0] == '*' ? hone_c_poly_product(&a, &b)
                              : hone_c_poly_sum(&a, &b, expr->op[0] == '+' ? 1 : -1);
}

struct hone_c_poly hone_c_poly_of(const struct hone_c_node *function,
                                  const struct hone_c_node *expr)
{
    return of(function, expr, 0);
}

enum hone_c_stride hone_c_poly_stride(const struct hone_c_poly *poly, const struct hone_c_node *var)
{
    if (!poly->is_known)
        return HONE_C_STRIDE_UNKNOWN;
    enum hone_c_stride out = HONE_C_STRIDE_ZERO;
    for (size_t i = 0; i < poly->n; i++) {
        const struct hone_c_term *t = &poly->terms[i];
        size_t n_var = 0;
        for (size_t f = 0; f < t->n_factors; f++)
            n_var += t->factors[f].decl == var;
        if (n_var == 0)
            continue;
        bool is_unit = out == HONE_C_STRIDE_ZERO && n_var == 1 && t->n_factors == 1 && t->k == 1;
        out = is_unit ? HONE_C_STRIDE_UNIT : HONE_C_STRIDE_FAR;
    }
    return out;
}

/* Pointer expressions: root + offset. */
static const struct hone_c_node *follow(const struct hone_c_node *function,
                                        const struct hone_c_node *expr, struct hone_c_poly *offset,
                                        int depth);

static const struct hone_c_node *follow_sum(const struct hone_c_node *function,
                                            const struct hone_c_node *expr,
                                            struct hone_c_poly *offset, int depth)
{
    bool left = strchr(expr->first->type, '*') || strchr(expr->first->type, '[');
    const struct hone_c_node *pointer = left ? expr->first : expr->last,
                             *other = left ? expr->last : expr->first;
    struct hone_c_poly step = of(function, other, 0);
    *offset = hone_c_poly_sum(offset, &step, expr->op[0] == '-' ? -1 : 1);
    return follow(function, pointer, offset, depth + 1);
}

static const struct hone_c_node *follow_subscript(const struct hone_c_node *function,
                                                  const struct hone_c_node *expr, bool is_row,
                                                  struct hone_c_poly *offset, int depth)
{
    struct hone_c_poly index = of(function, expr->last, 0);
    if (is_row) { /* the row length of a local array is some far stride */
        struct hone_c_poly pitch = {.is_known = true, .n = 1};
        pitch.terms[0] = (struct hone_c_term){.k = 1, .n_factors = 1, .factors = {{NULL, "[]"}}};
        index = hone_c_poly_product(&index, &pitch);
    }
    *offset = hone_c_poly_sum(offset, &index, 1);
    const struct hone_c_node *inner = hone_c_strip(expr->first);
    if (inner && inner->kind == HONE_C_SUBSCRIPT)
        return follow_subscript(function, inner, true, offset, depth + 1);
    return follow(function, expr->first, offset, depth + 1);
}

static const struct hone_c_node *follow(const struct hone_c_node *function,
                                        const struct hone_c_node *expr, struct hone_c_poly *offset,
                                        int depth)
{
    expr = hone_c_strip(expr);
    if (!expr || depth > MAX_FOLLOW)
        return NULL;
    if (expr->kind == HONE_C_REF) {
        const struct hone_c_node *d = expr->decl;
        if (d && d->kind == HONE_C_VAR && strchr(d->type, '*') && d->last) {
            const struct hone_c_node *init = hone_c_strip(d->last);
            /* a pointer that is set again (swapped buffers) is a root of its own */
            if (!hone_c_writes(function, d) && init->kind != HONE_C_CALL)
                return follow(function, init, offset, depth + 1);
        }
        return d;
    }
    if (expr->kind == HONE_C_BINARY && (!strcmp(expr->op, "+") || !strcmp(expr->op, "-")))
        return follow_sum(function, expr, offset, depth);
    if (expr->kind == HONE_C_UNARY && strcmp(expr->op, "&") == 0 && expr->first) {
        const struct hone_c_node *inner = hone_c_strip(expr->first);
        if (inner->kind == HONE_C_SUBSCRIPT)
            return follow_subscript(function, inner, false, offset, depth + 1);
    }
    return NULL;
}

static void note_use(const struct hone_c_node *node, struct hone_c_access *a)
{
    const struct hone_c_node *n = node, *p = node->parent;
    for (; p && (p->kind == HONE_C_PAREN || (p->kind == HONE_C_MEMBER && p->first == n));
         p = p->parent) {
        if (p->kind == HONE_C_MEMBER && !a->field && !strstr(node->type, "union"))
            a->field = p->name;
        n = p;
    }
    bool is_target = p && p->first == n;
    bool is_set = is_target && p->kind == HONE_C_BINARY && strcmp(p->op, "=") == 0;
    bool is_update =
        (is_target && p->kind == HONE_C_ASSIGN_OP) ||
        (p && p->kind == HONE_C_UNARY && (!strcmp(p->op, "++") || !strcmp(p->op, "--")));
    a->is_write = is_set || is_update;
    a->is_read = !is_set;
}

size_t hone_c_accesses(const struct hone_c_node *function, const struct hone_c_node *top,
                       struct hone_c_access *ret, size_t max)
{
    size_t n = 0;
    for (const struct hone_c_node *at = top; at; at = hone_c_walk(top, at)) {
        bool is_deref = at->kind == HONE_C_UNARY && strcmp(at->op, "*") == 0;
        if (at->kind != HONE_C_SUBSCRIPT && !is_deref)
            continue;
        if (at->kind == HONE_C_SUBSCRIPT && at->parent->kind == HONE_C_SUBSCRIPT &&
            at->parent->first == at)
            continue; /* a row of a local array: its element is counted */
        if (n < max) {
            struct hone_c_access a = {.node = at, .index = {.is_known = true}};
            a.root = is_deref ? follow(function, at->first, &a.index, 0)
                              : follow_subscript(function, at, false, &a.index, 0);
            note_use(at, &a);
            ret[n] = a;
        }
        n++;
    }
    return n;
}

bool hone_c_term_over(const struct hone_c_term *a, const struct hone_c_term *b,
                      struct hone_c_term *ret)
{
    *ret = *a;
    if (b->k == 0 || a->k % b->k != 0)
        return false;
    ret->k = a->k / b->k;
    for (size_t i = 0; i < b->n_factors; i++) {
        size_t j = 0;
        while (j < ret->n_factors && (ret->factors[j].decl != b->factors[i].decl ||
                                      strcmp(ret->factors[j].name, b->factors[i].name) != 0))
            j++;
        if (j == ret->n_factors)
            return false;
        ret->factors[j] = ret->factors[--ret->n_factors];
    }
    return true;
}

bool hone_c_poly_is_number(const struct hone_c_poly *poly, int64_t *ret)
{
    *ret = poly->n ? poly->terms[0].k : 0;
    return poly->is_known && (poly->n == 0 || (poly->n == 1 && poly->terms[0].n_factors == 0));
}

bool hone_c_poly_distance(const struct hone_c_poly *a, const struct hone_c_poly *b, int64_t *ret)
{
    struct hone_c_poly d = hone_c_poly_sum(a, b, -1);
    return hone_c_poly_is_number(&d, ret);
}
