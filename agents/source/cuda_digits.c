/* SPDX-License-Identifier: Apache-2.0 */
/* The digits of a kernel's axes (cuda_gather.h).
 *
 * Each local that is made of an axis by division and remainder is axis / below % size. The chain of
 * an axis goes from 1 up: of the values that begin where the last one ended the narrowest, until one
 * is open. Where none is, a digit without a name covers the rest. */
#include "agents/source/cuda_gather.h"

#include <string.h>

enum { MAX_VALUES = 12 };

struct radix {
    const struct hone_cuda_axis *axis; /* NULL: it is none */
    struct hone_c_term below, size;
    bool is_open;
};
struct value {
    const struct hone_c_node *var;
    struct radix r;
};
struct values {
    const struct hone_cuda_kernel *k;
    struct value v[MAX_VALUES];
    size_t n;
};

static const struct hone_c_term one = {.k = 1};

bool hone_cuda_is_one(const struct hone_c_term *t)
{
    return t->k == 1 && t->n_factors == 0;
}

static bool same_term(const struct hone_c_term *a, const struct hone_c_term *b)
{
    return a->k == b->k && hone_c_same_factors(a, b);
}

static bool term_times(const struct hone_c_term *a, const struct hone_c_term *b,
                       struct hone_c_term *ret)
{
    *ret = *a;
    if (a->n_factors + b->n_factors > HONE_C_MAX_FACTORS ||
        __builtin_mul_overflow(a->k, b->k, &ret->k))
        return false;
    for (size_t i = 0; i < b->n_factors; i++)
        ret->factors[ret->n_factors++] = b->factors[i];
    return true;
}

/* The same for the whole launch: a parameter, a constant, a local that is made of them. */
static bool is_fixed(const struct hone_cuda_kernel *k, const struct hone_c_factor *f)
{
    const struct hone_c_node *d = f->decl;
    if (!d)
        return !strpbrk(f->name, ".[");
    if (d->kind == HONE_C_PARAM)
        return !hone_c_writes(k->function, d);
    if (d->kind != HONE_C_VAR)
        return false;
    if (d->parent == k->in->tree->root || (d->parent && d->parent->parent == k->in->tree->root))
        return strncmp(d->type, "const ", 6) == 0;
    const struct hone_cuda_digits none = {.k = k};
    return d->last && !hone_c_writes(k->function, d) && hone_cuda_n_places(d->last) == 0 &&
           hone_cuda_mask(&none, NULL, 0, d->last) == 0;
}

static bool holds_size(const char *type)
{
    type += strncmp(type, "const ", 6) == 0 ? 6 : 0;
    return hone_cuda_type_bytes(type) >= 4 && strcmp(type, "float") != 0 &&
           strcmp(type, "double") != 0;
}

/* A product of numbers and names. A local that is a product stands for it; one that is a sum, such
 * as the height of an output, is a name. */
static bool term_at(const struct hone_cuda_kernel *k, const struct hone_c_node *n, int depth,
                    struct hone_c_term *ret)
{
    struct hone_c_term a, b;
    while (n->last && (n->kind == HONE_C_PAREN || (n->kind == HONE_C_CAST && holds_size(n->type))))
        n = n->last;
    if (n->kind == HONE_C_CONST) {
        struct hone_c_poly p = hone_c_poly_of(k->function, n);
        *ret = p.is_known && p.n == 1 ? p.terms[0] : one;
        return p.is_known && p.n == 1;
    }
    if (n->kind == HONE_C_BINARY && strcmp(n->op, "*") == 0)
        return term_at(k, n->first, depth + 1, &a) && term_at(k, n->last, depth + 1, &b) &&
               term_times(&a, &b, ret);
    if (n->kind != HONE_C_REF || depth > 8)
        return false;
    const struct hone_c_node *d = n->decl;
    const struct hone_c_factor factor = {d, n->name};
    bool is_local = d && d->kind == HONE_C_VAR && hone_c_contains(k->function, d);
    if (!is_fixed(k, &factor) || (d && !holds_size(d->type)))
        return false;
    if (is_local && term_at(k, d->last, depth + 1, ret))
        return true;
    *ret = (struct hone_c_term){.k = 1, .n_factors = 1, .factors = {factor}};
    return true;
}

static bool term_of(const struct hone_cuda_kernel *k, const struct hone_c_node *expr,
                    struct hone_c_term *ret)
{
    return term_at(k, expr, 0, ret) && ret->k > 0;
}

static struct radix radix_of(const struct values *all, const struct hone_c_node *expr)
{
    const struct radix none = {.axis = NULL};
    const struct hone_c_node *n = hone_c_strip(expr);
    for (size_t i = 0; n && n->kind == HONE_C_REF && i < all->k->n_axes; i++)
        if (all->k->axes[i].var == n->decl)
            return (struct radix){&all->k->axes[i], one, one, true};
    for (size_t i = 0; n && n->kind == HONE_C_REF && i < all->n; i++)
        if (all->v[i].var == n->decl)
            return all->v[i].r;
    if (!n || n->kind != HONE_C_BINARY || (strcmp(n->op, "/") != 0 && strcmp(n->op, "%") != 0))
        return none;
    struct radix of = radix_of(all, n->first);
    struct hone_c_term by, rest = one;
    if (!of.axis || !term_of(all->k, n->last, &by) ||
        (!of.is_open && !hone_c_term_over(&of.size, &by, &rest)))
        return none;
    if (n->op[0] == '%')
        return (struct radix){of.axis, of.below, by, false};
    struct radix out = {of.axis, one, rest, of.is_open};
    return term_times(&of.below, &by, &out.below) ? out : none;
}

static void read_values(struct values *all)
{
    for (size_t i = 0; i < all->k->n_stmts; i++) {
        const struct hone_c_node *s = all->k->stmts[i];
        for (const struct hone_c_node *v = s->kind == HONE_C_DECL_STMT ? s->first : NULL; v;
             v = v->next) {
            if (v->kind != HONE_C_VAR || !v->last || all->n == MAX_VALUES ||
                hone_c_writes(all->k->function, v) ||
                !holds_size(v->type)) /* it would come round */
                continue;
            struct radix r = radix_of(all, v->last);
            if (r.axis)
                all->v[all->n++] = (struct value){v, r};
        }
    }
}

static bool is_narrower(const struct radix *a, const struct radix *b)
{
    if (a->is_open != b->is_open)
        return !a->is_open;
    return a->size.n_factors != b->size.n_factors ? a->size.n_factors < b->size.n_factors
                                                  : a->size.k < b->size.k;
}

static const struct value *next_value(const struct values *all, const struct hone_cuda_axis *axis,
                                      const struct hone_c_term *below)
{
    const struct value *best = NULL;
    for (size_t i = 0; i < all->n; i++) {
        const struct value *v = &all->v[i];
        if (v->r.axis == axis && same_term(&v->r.below, below) &&
            (!best || is_narrower(&v->r, &best->r)))
            best = v;
    }
    return best;
}

/* What is left of the axis' bound over what lies below, where that is a product. */
static void close_digit(const struct hone_cuda_kernel *k, struct hone_cuda_digit *d)
{
    struct hone_c_term bound;
    if (term_of(k, d->axis->bound, &bound) && hone_c_term_over(&bound, &d->below, &d->size))
        d->is_open = false;
}

static bool add_axis(struct hone_cuda_digits *d, const struct values *all,
                     const struct hone_cuda_axis *axis)
{
    struct hone_c_term below = one;
    for (;;) {
        const struct value *v = next_value(all, axis, &below);
        if (d->n == HONE_CUDA_MAX_DIGITS)
            return false;
        struct hone_cuda_digit *digit = &d->v[d->n];
        *digit = (struct hone_cuda_digit){.axis = axis, .below = below, .is_open = true};
        if (!v || v->r.is_open) {
            digit->is_axis = hone_cuda_is_one(&below);
            digit->var = v ? v->var : digit->is_axis ? axis->var : NULL;
            if (digit->var != axis->var || !digit->is_axis)
                close_digit(d->k, digit);
            bool is_empty = !v && !digit->is_open && hone_cuda_is_one(&digit->size);
            d->n += !is_empty;
            return true;
        }
        digit->var = v->var;
        digit->size = v->r.size;
        digit->is_open = false;
        d->n++;
        if (!term_times(&below, &v->r.size, &below))
            return false;
    }
}

static bool is_digit(const struct hone_cuda_digits *d, const struct hone_c_node *var)
{
    for (size_t i = 0; i < d->n; i++)
        if (d->v[i].var == var)
            return true;
    return false;
}

/* The digits that the value is put together from. */
static unsigned digits_of(const struct hone_cuda_digits *d, const struct radix *r)
{
    unsigned out = 0;
    struct hone_c_term size = one;
    for (size_t i = 0; i < d->n; i++) {
        const struct hone_cuda_digit *at = &d->v[i];
        if (at->axis != r->axis || (out == 0 && !same_term(&at->below, &r->below)))
            continue;
        bool is_last = i + 1 == d->n || d->v[i + 1].axis != r->axis;
        out |= 1u << i;
        if (r->is_open && is_last)
            return out;
        if (at->is_open || !term_times(&size, &at->size, &size))
            return 0;
        if (!r->is_open && same_term(&size, &r->size))
            return out;
    }
    return 0;
}

bool hone_cuda_read_digits(const struct hone_cuda_kernel *k, struct hone_cuda_digits *d)
{
    struct values all = {.k = k};
    *d = (struct hone_cuda_digits){.k = k};
    read_values(&all);
    for (const char *dim = "xyz"; *dim; dim++)
        for (size_t i = 0; i < k->n_axes; i++)
            if (k->axes[i].dim == *dim && !add_axis(d, &all, &k->axes[i]))
                return false;
    for (size_t i = 0; i < all.n; i++) {
        if (is_digit(d, all.v[i].var))
            continue;
        if (d->n_others == HONE_CUDA_MAX_DIGITS)
            return false;
        d->others[d->n_others++] =
            (struct hone_cuda_composite){all.v[i].var, digits_of(d, &all.v[i].r)};
    }
    return d->n > 0;
}

/* ---- what an expression depends on ---- */

struct look {
    const struct hone_cuda_digits *d;
    const struct hone_c_loop *const *loops;
    size_t n_loops;
};

static unsigned mask_at(const struct look *l, const struct hone_c_node *expr, int depth);

static unsigned mask_of_name(const struct look *l, const struct hone_c_node *ref, int depth)
{
    const struct hone_c_node *decl = ref->decl;
    const struct hone_cuda_digits *d = l->d;
    unsigned out = 0;
    if (!decl)
        return hone_cuda_n_places(ref) > 0 ? HONE_CUDA_ON_UNKNOWN : 0;
    for (size_t i = 0; i < d->n; i++)
        out |= d->v[i].var == decl || d->v[i].axis->var == decl ? 1u << i : 0;
    for (size_t i = 0; i < d->n; i++)
        if (d->v[i].var == decl)
            return 1u << i;
    for (size_t i = 0; i < d->n_others; i++)
        if (d->others[i].var == decl)
            return d->others[i].digits ? d->others[i].digits : HONE_CUDA_ON_UNKNOWN;
    for (size_t i = 0; i < l->n_loops; i++)
        if (l->loops[i]->var == decl)
            return HONE_CUDA_ON_SUM;
    for (size_t i = 0; i < d->k->n_axes && out == 0; i++)
        if (d->k->axes[i].var == decl)
            return HONE_CUDA_ON_UNKNOWN;
    bool is_local = decl->kind == HONE_C_VAR && hone_c_contains(d->k->function, decl);
    if (out > 0 || decl->kind == HONE_C_FUNCTION)
        return out;
    if (!is_local)
        return hone_c_writes(d->k->function, decl) ? HONE_CUDA_ON_UNKNOWN : 0;
    if (!decl->last || strchr(decl->type, '[') || depth > 12 || hone_c_writes(d->k->function, decl))
        return HONE_CUDA_ON_UNKNOWN;
    return mask_at(l, decl->last, depth + 1);
}

static unsigned mask_at(const struct look *l, const struct hone_c_node *expr, int depth)
{
    unsigned out = 0;
    for (const struct hone_c_node *n = expr; n; n = hone_c_walk(expr, n)) {
        bool is_deref = (n->kind == HONE_C_UNARY && strcmp(n->op, "*") == 0) ||
                        (n->kind == HONE_C_SUBSCRIPT && !strchr(n->first->type, '['));
        bool is_change =
            n->kind == HONE_C_ASSIGN_OP || (n->kind == HONE_C_BINARY && strcmp(n->op, "=") == 0) ||
            (n->kind == HONE_C_UNARY && (!strcmp(n->op, "++") || !strcmp(n->op, "--")));
        if (is_deref || n->kind == HONE_C_CALL)
            out |= HONE_CUDA_ON_MEMORY;
        bool is_over = n->kind == HONE_C_BINARY &&
                       (strcmp(n->op, "/") == 0 || strcmp(n->op, "%") == 0) &&
                       mask_at(l, n->last, depth + 1) != 0; /* it may be zero elsewhere */
        if (is_change || is_over || n->kind == HONE_C_OTHER)
            out |= HONE_CUDA_ON_UNKNOWN;
        if (n->kind == HONE_C_REF)
            out |= mask_of_name(l, n, depth);
    }
    return out;
}

unsigned hone_cuda_mask(const struct hone_cuda_digits *d, const struct hone_c_loop *const *loops,
                        size_t n_loops, const struct hone_c_node *expr)
{
    const struct look l = {d, loops, n_loops};
    return mask_at(&l, expr, 0);
}
