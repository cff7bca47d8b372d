/* SPDX-License-Identifier: Apache-2.0 */
/* A flat index that is taken apart (cuda_normal.h).
 *
 *     i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= M * N) return;
 *     m = i / N; n = i % N;
 *
 * Each value that is made of i by division and remainder (or i - m * N) is a digit i / D % S in a
 * mixed radix, where D and S are products of sizes. The digits from the right that cover the whole
 * index become the axes x, y, z; other values are put together from them again. Where there are
 * more than three, z is all beyond the second, and its digits are made of it. A set of sizes is a
 * mask of places in one list; the bit `open` stands for the quotient of a count that is no product.
 *
 * Blocks' own places y and z beside the flat index go to z: one as it is, two as its digits. */
#include "agents/source/cuda_normal.h"

#include <string.h>

#include "agents/source/cuda_contraction.h"

enum { MAX_SIZES = 6, MAX_VALUES = 12, OPEN = 1 << MAX_SIZES };

struct digit {
    bool is_known;
    unsigned below, size; /* D and S */
};

struct value {                            /* a local that is made of the flat index alone */
    const struct hone_c_node *var, *stmt; /* NULL: an axis that has no local */
    const char *name, *type;
    struct digit d;
};

struct flat {
    const struct hone_cuda_kernel *k;
    const struct hone_cuda_axis *axis;
    const struct hone_c_node *sizes[MAX_SIZES]; /* parameters; the same may stand twice */
    size_t n_sizes;
    bool is_open; /* more sizes may turn up: the count is one parameter */
    unsigned all; /* of the sizes so far, and OPEN */
    struct value values[MAX_VALUES];
    size_t n_values;
    const struct value *axes[HONE_CUDA_MAX_AXES]; /* fastest first */
    size_t n_axes;
    struct value rest;                      /* of more than three digits */
    const struct hone_cuda_axis *others[2]; /* blocks' places, the faster one first */
    size_t n_others;
};

static const char z_place[] = "(int64_t)blockIdx.z * blockDim.z + threadIdx.z";

static unsigned places_of_term(struct flat *f, const struct hone_c_term *t, unsigned within)
{
    unsigned out = 0;
    for (size_t i = 0; i < t->n_factors; i++) {
        const struct hone_c_node *decl = t->factors[i].decl;
        size_t at = 0;
        while (at < f->n_sizes &&
               (f->sizes[at] != decl || (out & 1u << at) || !(within & 1u << at)))
            at++;
        bool is_new = at == f->n_sizes && f->is_open && (within & OPEN) && at < MAX_SIZES;
        if (!decl || decl->kind != HONE_C_PARAM || (at == f->n_sizes && !is_new))
            return 0;
        if (is_new) {
            f->sizes[f->n_sizes++] = decl;
            f->all |= 1u << at;
        }
        out |= 1u << at;
    }
    return out;
}

/* The places of a product of parameters within the mask; 0: it is none, or not within. */
static unsigned places_of(struct flat *f, const struct hone_c_node *expr, unsigned within)
{
    struct hone_c_poly p = hone_c_poly_of(f->k->function, expr);
    bool is_product = p.is_known && p.n == 1 && p.terms[0].k == 1;
    return is_product ? places_of_term(f, &p.terms[0], within) : 0;
}

/* What an open value spans has grown since it was read. */
static unsigned span(const struct flat *f, const struct digit *d)
{
    return d->size & OPEN ? f->all & ~d->below : d->size;
}

static const struct digit no_digit = {.is_known = false};

/* i - m * N where m is i / N: i % N */
static struct digit rest_of(struct flat *f, const struct digit *of, const struct hone_c_node *taken)
{
    struct hone_c_poly p = hone_c_poly_of(f->k->function, taken);
    if (!of->is_known || !p.is_known || p.n != 1 || p.terms[0].k != 1)
        return no_digit;
    for (size_t i = 0; i < p.terms[0].n_factors; i++) {
        struct hone_c_term t = p.terms[0];
        const struct value *v = f->values, *end = v + f->n_values;
        while (v < end && v->var != t.factors[i].decl)
            v++;
        if (v == end)
            continue;
        t.factors[i] = t.factors[--t.n_factors];
        unsigned by = places_of_term(f, &t, span(f, of) | (of->size & OPEN));
        if (by != 0 && v->d.below == (of->below | by) && span(f, &v->d) == (span(f, of) & ~by))
            return (struct digit){true, of->below, by};
    }
    return no_digit;
}

static struct digit digit_of(struct flat *f, const struct hone_c_node *expr)
{
    const struct hone_c_node *n = hone_c_strip(expr);
    if (n && n->kind == HONE_C_REF && n->decl == f->axis->var)
        return (struct digit){true, 0, f->all};
    for (size_t i = 0; n && n->kind == HONE_C_REF && i < f->n_values; i++)
        if (f->values[i].var == n->decl)
            return f->values[i].d;
    if (!n || n->kind != HONE_C_BINARY || !n->op[0] || n->op[1] || !strchr("/%-", n->op[0]))
        return no_digit;
    struct digit of = digit_of(f, n->first);
    if (n->op[0] == '-')
        return rest_of(f, &of, n->last);
    if (!of.is_known)
        return no_digit;
    unsigned by = places_of(f, n->last, span(f, &of) | (of.size & OPEN));
    unsigned whole = span(f, &of);
    if (by == 0)
        return no_digit;
    if (n->op[0] == '%')
        return (struct digit){true, of.below, by};
    return (struct digit){(whole & ~by) != 0, of.below | by, whole & ~by};
}

/* The declarations that are made of the index alone; false: one stands beside others that are not. */
static bool read_values(struct flat *f)
{
    const struct hone_cuda_kernel *k = f->k;
    for (size_t i = 0; i < k->n_stmts; i++) {
        const struct hone_c_node *s = k->stmts[i];
        size_t before = f->n_values, n = 0;
        if (s->kind != HONE_C_DECL_STMT)
            continue;
        for (const struct hone_c_node *v = s->first; v; v = v->next, n++) {
            if (v->kind != HONE_C_VAR || !v->last || f->n_values == MAX_VALUES ||
                hone_c_writes(k->function, v))
                continue;
            struct digit d = digit_of(f, v->last);
            if (d.is_known)
                f->values[f->n_values++] =
                    (struct value){v, s, v->name, hone_cuda_type(k->in, v), d};
        }
        if (f->n_values > before && f->n_values - before != n)
            return false;
    }
    return f->n_values >= 2;
}

/* z: all beyond x and y, which can be more than a grid has room for along z. Tiles of products do
 * not use it. */
static bool add_rest(struct flat *f)
{
    if (f->n_others > 0 || f->n_axes < 2 || !hone_cuda_sums_products(f->k))
        return false;
    unsigned below = span(f, &f->axes[0]->d) | span(f, &f->axes[1]->d);
    f->rest = (struct value){.name = hone_fresh_name(f->k->in, "batch"),
                             .type = "int64_t",
                             .d = {true, below, f->all & ~below}};
    f->axes[2] = &f->rest;
    f->n_axes = 3;
    return true;
}

/* From the right: the narrowest value that begins where the last one ended. */
static bool choose_axes(struct flat *f)
{
    unsigned below = 0;
    size_t most = f->n_others > 0 ? 2 : HONE_CUDA_MAX_AXES;
    while (below != f->all && f->n_axes < most) {
        const struct value *best = NULL;
        for (size_t i = 0; i < f->n_values; i++) {
            const struct value *v = &f->values[i];
            bool fits = v->d.below == below && span(f, &v->d) != 0;
            if (fits && (!best || __builtin_popcount(span(f, &v->d)) <
                                      __builtin_popcount(span(f, &best->d))))
                best = v;
        }
        if (!best)
            break;
        f->axes[f->n_axes++] = best;
        below |= span(f, &best->d);
    }
    return below == f->all ? f->n_axes >= 2 : add_rest(f);
}

/* A size in the kernel, or at a launch. The open part is the count over all the sizes. */
static const char *size_text(const struct flat *f, unsigned mask, const struct hone_cuda_launch *l)
{
    struct hone_pool *pool = f->k->in->pool;
    const char *out = "", *count = hone_c_text(f->k->in->tree, f->axis->bound);
    if (l)
        count = hone_cuda_at_launch(f->k, l, f->axis->bound);
    for (size_t i = 0; i < f->n_sizes; i++) {
        bool is_in = mask & OPEN ? !(mask & 1u << i) : (mask & 1u << i) != 0;
        const char *name = f->sizes[i]->name;
        for (size_t p = 0; l && p < f->k->n_params; p++)
            if (f->k->params[p] == f->sizes[i])
                name = hone_pool_printf(pool, "(%s)", hone_c_text(f->k->in->tree, l->args[p]));
        if (is_in)
            out = *out ? hone_pool_printf(pool, "%s * %s", out, name) : name;
    }
    if (!(mask & OPEN))
        return out;
    if (!count)
        return NULL;
    return *out ? hone_pool_printf(pool, "((%s) / (%s))", count, out) : count;
}

/* The axis that the value is a digit of; NULL: it is none. */
static const struct value *axis_around(const struct flat *f, const struct digit *d)
{
    unsigned whole = span(f, d);
    for (size_t i = 0; i < f->n_axes; i++) {
        const struct value *a = f->axes[i];
        unsigned size = span(f, &a->d);
        if (whole != size && (whole & ~size) == 0 && (a->d.below & ~d->below) == 0)
            return a;
    }
    return NULL;
}

/* z / D % S */
static const char *digit_text(const struct flat *f, const struct value *axis, const struct digit *d)
{
    struct hone_pool *pool = f->k->in->pool;
    unsigned size = span(f, &axis->d), lower = d->below & size, whole = span(f, d);
    const char *out = axis->name;
    if (lower)
        out = hone_pool_printf(pool, "%s / (%s)", out, size_text(f, lower, NULL));
    if ((lower | whole) != size)
        out = hone_pool_printf(pool, "%s %% (%s)", out, size_text(f, whole, NULL));
    return hone_pool_printf(pool, "(%s)", out);
}

/* The value put together from the axes that lie within it, as wide as it was. */
static const char *value_text(const struct flat *f, const struct digit *d, const char *type)
{
    bool is_wide = hone_cuda_type_bytes(strncmp(type, "const ", 6) == 0 ? type + 6 : type) == 8;
    struct hone_pool *pool = f->k->in->pool;
    const struct value *around = axis_around(f, d);
    const char *out = NULL;
    unsigned whole = span(f, d);
    if (around)
        return digit_text(f, around, d);
    for (size_t i = f->n_axes; i-- > 0;) {
        const struct value *a = f->axes[i];
        unsigned size = span(f, &a->d);
        if ((size & whole) == 0)
            continue;
        if ((size & ~whole) != 0)
            return NULL;
        out =
            out ? hone_pool_printf(pool, "(%s * (%s) + %s)", out, size_text(f, size, NULL), a->name)
            : is_wide ? hone_pool_printf(pool, "(int64_t)%s", a->name)
                      : a->name;
    }
    return out;
}

static bool is_axis(const struct flat *f, const struct value *v)
{
    for (size_t i = 0; i < f->n_axes; i++)
        if (f->axes[i] == v)
            return true;
    return false;
}

static const char *axes_text(const struct flat *f)
{
    struct hone_pool *pool = f->k->in->pool;
    const char *out = "";
    for (size_t i = 0; i < f->n_axes; i++) {
        int dim = "xyz"[i];
        out = hone_pool_printf(
            pool, "%s%sconst %s %s = (int64_t)blockIdx.%c * blockDim.%c + threadIdx.%c;", out,
            *out ? "\n    " : "", f->axes[i]->type, f->axes[i]->name, dim, dim, dim);
    }
    return out;
}

static const char *guard_text(const struct flat *f, bool is_inside)
{
    struct hone_pool *pool = f->k->in->pool;
    const char *out = "";
    for (size_t i = f->n_axes; i-- > 0;)
        out = hone_pool_printf(pool, "%s%s%s %s %s", out,
                               !*out ? "" : (is_inside ? " && " : " || "), f->axes[i]->name,
                               is_inside ? "<" : ">=", size_text(f, span(f, &f->axes[i]->d), NULL));
    return out;
}

/* How many products there are beside the flat index, in the kernel or at a launch. */
static const char *others_text(const struct flat *f, const struct hone_cuda_launch *l)
{
    const char *out = NULL;
    for (size_t i = 0; i < f->n_others; i++) {
        const struct hone_c_node *bound = f->others[i]->bound;
        const char *n = l ? hone_cuda_at_launch(f->k, l, bound) : hone_cuda_bracket(f->k, bound);
        if (!n)
            return NULL;
        out = out ? hone_pool_printf(f->k->in->pool, "(int64_t)(%s) * (%s)", out, n) : n;
    }
    return out;
}

static bool set_launches(struct hone_c_edits *edits, const struct flat *f)
{
    struct hone_pool *pool = f->k->in->pool;
    for (size_t i = 0; i < f->k->n_launches; i++) {
        const struct hone_cuda_launch *l = &f->k->launches[i];
        const char *n[3] = {"1", "1", "1"};
        for (size_t d = 0; d < f->n_axes; d++)
            n[d] = size_text(f, span(f, &f->axes[d]->d), l);
        if (f->n_others > 0)
            n[2] = others_text(f, l);
        if (!n[0] || !n[1] || !n[2])
            return false;
        hone_cuda_set_launch(edits, l,
                             hone_pool_printf(pool,
                                              "dim3((unsigned)((%s + 31) / 32), (unsigned)((%s + "
                                              "7) / 8), (unsigned)(%s))",
                                              n[0], n[1], n[2]),
                             "dim3(32, 8)", l->shared);
    }
    return true;
}

/* The other values and the index itself, wherever they are still named. */
static bool replace_rest(struct hone_c_edits *edits, const struct flat *f)
{
    const struct hone_cuda_kernel *k = f->k;
    const struct digit whole = {true, 0, f->all};
    for (size_t s = 0; s < k->n_stmts; s++) {
        bool is_own = false;
        for (size_t i = 0; i < f->n_values; i++)
            is_own = is_own || f->values[i].stmt == k->stmts[s];
        for (size_t i = 0; i <= f->n_values && !is_own; i++) {
            const struct value *v = i < f->n_values ? &f->values[i] : NULL;
            const struct hone_c_node *decl = v ? v->var : f->axis->var;
            if ((v && (is_axis(f, v) || axis_around(f, &v->d))) || !hone_c_uses(k->stmts[s], decl))
                continue;
            const char *text = value_text(f, v ? &v->d : &whole, decl->type);
            if (!text)
                return false;
            hone_c_replace_refs(edits, k->stmts[s], decl, text);
        }
    }
    return true;
}

static const struct hone_c_node *guard_of(const struct hone_cuda_kernel *k,
                                          const struct hone_c_node *bound)
{
    const struct hone_c_node *n = bound;
    while (n && n->kind != HONE_C_IF)
        n = n->parent;
    return n && hone_c_contains(k->function, n) ? n : NULL;
}

/* An axis in a narrow type would come round, where the index did not. */
static bool fits_types(const struct flat *f)
{
    for (size_t i = 0; i < f->n_axes; i++) {
        const char *type = f->axes[i]->var ? f->axes[i]->var->type : "long";
        if (hone_cuda_type_bytes(strncmp(type, "const ", 6) == 0 ? type + 6 : type) < 4 ||
            strstr(type, "float") || strstr(type, "double"))
            return false;
    }
    return true;
}

/* What a launch's argument is computed from: a local of the launcher that is set once. */
static const struct hone_c_node *origin(const struct hone_c_node *launcher,
                                        const struct hone_c_node *arg)
{
    const struct hone_c_node *n = hone_c_strip(arg);
    bool is_local = n && n->kind == HONE_C_REF && n->decl && n->decl->kind == HONE_C_VAR &&
                    n->decl->last && !hone_c_writes(launcher, n->decl);
    return is_local ? hone_c_strip(n->decl->last) : n;
}

static const struct hone_c_node *argument(const struct hone_cuda_kernel *k,
                                          const struct hone_cuda_launch *l,
                                          const struct hone_c_node *param)
{
    for (size_t i = 0; i < k->n_params; i++)
        if (k->params[i] == param)
            return origin(l->launcher, l->args[i]);
    return NULL;
}

/* Is the count a product that has the sizes in it, at every launch? Otherwise the last row would be
 * left out. */
static bool divides(const struct flat *f)
{
    const struct hone_c_node *bound = hone_c_strip(f->axis->bound);
    for (size_t i = 0; i < f->k->n_launches; i++) {
        const struct hone_cuda_launch *l = &f->k->launches[i];
        const struct hone_c_node *count =
            bound->kind == HONE_C_REF ? argument(f->k, l, bound->decl) : NULL;
        if (!count)
            return false;
        struct hone_c_poly p = hone_c_poly_of(l->launcher, count);
        unsigned taken = 0;
        for (size_t s = 0; s < f->n_sizes; s++) {
            const struct hone_c_node *size = argument(f->k, l, f->sizes[s]);
            size_t at = 0;
            if (!p.is_known || p.n != 1 || !size || size->kind != HONE_C_REF)
                return false;
            while (at < p.terms[0].n_factors &&
                   (taken & 1u << at || p.terms[0].factors[at].decl != size->decl))
                at++;
            if (at == p.terms[0].n_factors)
                return false;
            taken |= 1u << at;
        }
    }
    return true;
}

/* a < b of a guard */
static const struct hone_c_node *comparison_of(const struct hone_cuda_axis *axis)
{
    return axis->bound->parent;
}

/* ---- blocks' places beside it ---- */

/* The flat index is x. The others have one thread a block and bounds that the launch knows. */
static bool read_others(struct flat *f)
{
    const struct hone_cuda_kernel *k = f->k;
    for (const char *dim = "xyz"; *dim; dim++) {
        for (size_t i = 0; i < k->n_axes; i++) {
            const struct hone_cuda_axis *a = &k->axes[i];
            if (a->dim != *dim)
                continue;
            if (*dim == 'x' && !f->axis)
                f->axis = a;
            else if (*dim == 'x' || f->n_others == HONE_COUNTOF(f->others) ||
                     !hone_cuda_is_one_thread(k, *dim))
                return false;
            else
                f->others[f->n_others++] = a;
            for (size_t other = 0; other < k->n_axes; other++)
                if (hone_cuda_depends(k, a->bound, k->axes[other].var))
                    return false;
        }
    }
    return f->axis != NULL;
}

/* One place: it is z. Two: digits of z, with one guard for both. */
static bool move_others(struct hone_c_edits *edits, const struct flat *f)
{
    const struct hone_cuda_kernel *k = f->k;
    struct hone_pool *pool = k->in->pool;
    const struct hone_cuda_axis *fast = f->others[0], *slow = f->others[1];
    if (f->n_others < 2) {
        const struct hone_c_node *init = f->n_others ? fast->var->last : NULL;
        if (init)
            hone_c_replace(edits, init->begin, init->end, z_place);
        return true;
    }
    const char *n = hone_cuda_bracket(k, fast->bound), *all = others_text(f, NULL);
    const struct hone_c_node *guard = guard_of(k, slow->bound), *less = comparison_of(fast);
    const char *name = hone_fresh_name(k->in, "block");
    if (!n || !all || !guard || !hone_cuda_sums_products(k) ||
        hone_c_strip(guard->first) != comparison_of(slow) ||
        hone_c_contains(guard->last, k->stmts[0]) || guard == guard_of(k, fast->bound))
        return false;
    bool is_first = fast->var->begin < slow->var->begin, is_inside = strpbrk(less->op, "=") == NULL;
    const struct hone_c_node *first = is_first ? fast->var->parent : slow->var->parent;
    hone_c_replace(edits, first->begin, first->begin,
                   hone_pool_printf(pool, "const int64_t %s = %s;\n    ", name, z_place));
    hone_c_replace(edits, fast->var->last->begin, fast->var->last->end,
                   hone_pool_printf(pool, "%s %% %s", name, n));
    hone_c_replace(edits, slow->var->last->begin, slow->var->last->end,
                   hone_pool_printf(pool, "%s / %s", name, n));
    hone_c_replace(edits, less->begin, less->end,
                   hone_pool_printf(pool, "%s %s %s", name, is_inside ? "<" : ">=", all));
    hone_c_replace(edits, guard->begin, hone_c_stmt_end(k->in->tree, guard), "");
    return true;
}

/* Declarations of values; those that are digits of an axis stay where they stood. */
static void replace_values(struct hone_c_edits *edits, const struct flat *f)
{
    struct hone_pool *pool = f->k->in->pool;
    const char *text = "";
    for (size_t i = 0; i < f->n_values; i++) {
        const struct value *v = &f->values[i];
        const struct value *around = is_axis(f, v) ? NULL : axis_around(f, &v->d);
        if (around)
            text = hone_pool_printf(pool, "%s%sconst %s %s = %s;", text, *text ? "\n    " : "",
                                    v->type, v->name, digit_text(f, around, &v->d));
        if (i + 1 < f->n_values && f->values[i + 1].stmt == v->stmt)
            continue;
        hone_c_replace(edits, v->stmt->begin, hone_c_stmt_end(f->k->in->tree, v->stmt), text);
        text = "";
    }
}

const char *hone_cuda_split_flat(const struct hone_cuda_kernel *k)
{
    struct flat f = {.k = k};
    if (!k->is_plain || !read_others(&f))
        return NULL;
    const struct hone_c_node *guard = guard_of(k, f.axis->bound);
    f.is_open = true;
    f.all = OPEN;
    unsigned product = places_of(&f, f.axis->bound, OPEN);
    bool is_product = __builtin_popcount(product) >= 2;
    f.is_open = !is_product;
    f.n_sizes = is_product ? f.n_sizes : 0;
    f.all = is_product ? product : OPEN;
    if (!guard || !hone_cuda_may_relaunch(k, guard) || !read_values(&f) || !choose_axes(&f) ||
        !fits_types(&f) || (f.all & OPEN && !divides(&f)))
        return NULL;
    struct hone_c_edits edits;
    const struct hone_c_node *stmt = f.axis->var->parent, *less = comparison_of(f.axis);
    bool is_inside = strpbrk(less->op, "=") == NULL;
    hone_c_edits_init(&edits, k->in->tree);
    hone_c_replace(&edits, stmt->begin, hone_c_stmt_end(k->in->tree, stmt), axes_text(&f));
    hone_c_replace(&edits, less->begin, less->end, guard_text(&f, is_inside));
    replace_values(&edits, &f);
    if (!replace_rest(&edits, &f) || !move_others(&edits, &f) || !set_launches(&edits, &f))
        return NULL;
    hone_cuda_drop_unused(&edits, k);
    return hone_cuda_finish(&edits);
}
