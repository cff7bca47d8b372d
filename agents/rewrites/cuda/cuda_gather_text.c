/* SPDX-License-Identifier: Apache-2.0 */
/* Digits, offsets and guards as text (cuda_gather_tile.h).
 *
 * An expression is split by asking for it twice: with the sum's loops at zero, and with the
 * element's digits at zero, less what it is with both at zero. low <= value < high becomes one
 * comparison without a sign. */
#include "agents/rewrites/cuda/cuda_gather_tile.h"

#include <string.h>

enum { MAX_LEAVES = 16, MAX_SUBS = 2 * HONE_CUDA_MAX_DIGITS + 8 };

/* ---- digits ---- */

const char *hone_tile_type(const struct hone_tile *t, const struct hone_c_node *var)
{
    const char *type = var ? hone_cuda_type(t->k->in, var) : "int64_t";
    return strcmp(type, "auto") != 0 ? type : var->type + (strncmp(var->type, "const ", 6) ? 0 : 6);
}

static const char *factor_text(const struct hone_tile *t, const struct hone_c_factor *f,
                               const struct hone_cuda_launch *l)
{
    for (size_t i = 0; l && i < t->k->n_params; i++)
        if (f->decl && t->k->params[i] == f->decl)
            return hone_pool_printf(t->pool, "(%s)", hone_c_text(t->k->in->tree, l->args[i]));
    bool is_local =
        f->decl && f->decl->kind == HONE_C_VAR && hone_c_contains(t->k->function, f->decl);
    if (!is_local)
        return f->name;
    const char *text = l ? hone_cuda_at_launch(t->k, l, f->decl->last)
                         : hone_cuda_inline(t->k, f->decl->last, NULL, 0);
    return text ? hone_pool_printf(t->pool, "(%s)(%s)", hone_tile_type(t, f->decl), text) : NULL;
}

/* A product in 64 bits, in the kernel or at a launch; NULL: it is not known there. */
const char *hone_tile_term(const struct hone_tile *t, const struct hone_c_term *term,
                           const struct hone_cuda_launch *l)
{
    const char *out = NULL;
    if (term->k != 1 || term->n_factors == 0)
        out = hone_pool_printf(t->pool, "(int64_t)%lld", (long long)term->k);
    for (size_t i = 0; i < term->n_factors; i++) {
        const char *text = factor_text(t, &term->factors[i], l);
        if (!text)
            return NULL;
        out = out ? hone_pool_printf(t->pool, "%s * %s", out, text)
                  : hone_pool_printf(t->pool, "(int64_t)%s", text);
    }
    return hone_pool_printf(t->pool, "(%s)", out);
}

const char *hone_tile_size(const struct hone_tile *t, size_t i, const struct hone_cuda_launch *l)
{
    const struct hone_cuda_digit *d = &t->g.digits.v[i];
    if (!d->is_open)
        return hone_tile_term(t, &d->size, l);
    const char *bound = l ? hone_cuda_at_launch(t->k, l, d->axis->bound)
                          : hone_cuda_inline(t->k, d->axis->bound, NULL, 0),
               *below = hone_tile_term(t, &d->below, l);
    if (!bound || !below)
        return NULL;
    if (hone_cuda_is_one(&d->below))
        return hone_pool_printf(t->pool, "((int64_t)(%s))", bound);
    return hone_pool_printf(t->pool, "(((int64_t)(%s) + %s - 1) / %s)", bound, below, below);
}

/* How many rows, or columns. */
const char *hone_tile_count(const struct hone_tile *t, unsigned mask,
                            const struct hone_cuda_launch *l)
{
    const char *out = NULL;
    for (size_t i = 0; i < t->g.digits.n; i++) {
        const char *size = mask & 1u << i ? hone_tile_size(t, i, l) : "";
        if (!size)
            return NULL;
        if (*size)
            out = out ? hone_pool_printf(t->pool, "%s * %s", out, size) : size;
    }
    return out;
}

/* The number put together from those of its digits that are in the mask, the others zero. */
static const char *joined_text(const struct hone_tile *t, unsigned of, unsigned mask)
{
    const char *out = NULL;
    for (size_t i = t->g.digits.n; i-- > 0;) {
        if (!(of & 1u << i))
            continue;
        const char *digit = mask & 1u << i ? t->digits[i] : "0";
        out = out ? hone_pool_printf(t->pool, "(%s * %s + %s)", out, hone_tile_size(t, i, NULL),
                                     digit)
                  : hone_pool_printf(t->pool, "(int64_t)%s", digit);
    }
    return out;
}

static unsigned digits_of_axis(const struct hone_tile *t, const struct hone_cuda_axis *axis)
{
    unsigned out = 0;
    for (size_t i = 0; i < t->g.digits.n; i++)
        out |= t->g.digits.v[i].axis == axis ? 1u << i : 0;
    return out;
}

static bool is_axis_itself(const struct hone_tile *t, const struct hone_cuda_axis *axis)
{
    for (size_t i = 0; i < t->g.digits.n; i++)
        if (t->g.digits.v[i].var == axis->var)
            return true;
    return false;
}

/* Declares the digits of a row or a column. */
const char *hone_tile_split(const struct hone_tile *t, unsigned mask, const char *from)
{
    const char *out = "", *rest = from;
    for (size_t i = 0; i < t->g.digits.n; i++) {
        if (!(mask & 1u << i))
            continue;
        bool is_last = (mask >> i) == 1;
        const char *type = hone_tile_type(t, t->g.digits.v[i].var),
                   *size = hone_tile_size(t, i, NULL);
        out = is_last
                  ? hone_pool_printf(t->pool, "%s[[maybe_unused]] const %s %s = (%s)(%s);\n", out,
                                     type, t->digits[i], type, rest)
                  : hone_pool_printf(t->pool, "%s[[maybe_unused]] const %s %s = (%s)(%s %% %s);\n",
                                     out, type, t->digits[i], type, rest, size);
        rest = hone_pool_printf(t->pool, "%s / %s", rest, size);
    }
    return out;
}

/* " && e < bound" of the axes whose bound may end within the highest digit. */
const char *hone_tile_bounds(const struct hone_tile *t, unsigned mask)
{
    const char *out = "";
    for (size_t i = 0; i < t->g.digits.n; i++) {
        const struct hone_cuda_digit *d = &t->g.digits.v[i];
        if (!d->is_open || hone_cuda_is_one(&d->below))
            continue;
        out = hone_pool_printf(t->pool, "%s && %s < (%s)", out,
                               joined_text(t, digits_of_axis(t, d->axis), mask),
                               hone_cuda_inline(t->k, d->axis->bound, NULL, 0));
    }
    return out;
}

/* Declares the digits, of the first row or column where there is no element. */
const char *hone_tile_clamped(const struct hone_tile *t, unsigned mask, const char *from)
{
    const char *split = hone_tile_split(t, mask, from), *bounds = hone_tile_bounds(t, mask);
    return *bounds ? hone_pool_printf(t->pool, "{\n%sif (!(true%s))\n%s = 0;\n}\n%s", split, bounds,
                                      from, split)
                   : split;
}

/* Declares the axes whose digits are known. */
const char *hone_tile_axes(const struct hone_tile *t)
{
    const char *out = "";
    for (size_t i = 0; i < t->k->n_axes; i++) {
        const struct hone_cuda_axis *a = &t->k->axes[i];
        if (is_axis_itself(t, a))
            continue;
        const char *type = hone_tile_type(t, a->var);
        out = hone_pool_printf(t->pool, "%s[[maybe_unused]] const %s %s = (%s)(%s);\n", out, type,
                               a->var->name, type, joined_text(t, digits_of_axis(t, a), ~0u));
    }
    return out;
}

/* ---- split expressions ---- */

enum side { ELEMENT, SUM, NOTHING }; /* whose part of an expression is asked for */

static void add_sub(const struct hone_tile *t, struct hone_cuda_sub *subs, size_t *n,
                    const struct hone_c_node *var, const char *text)
{
    if (!text)
        text = hone_pool_printf(t->pool, "((%s)0)", hone_tile_type(t, var));
    subs[(*n)++] = (struct hone_cuda_sub){var, text};
}

static const char *part_text(const struct hone_tile *t, const struct hone_c_node *expr,
                             enum side side)
{
    const struct hone_cuda_digits *d = &t->g.digits;
    struct hone_cuda_sub subs[MAX_SUBS];
    size_t n = 0;
    bool has_digits = side == ELEMENT;
    for (size_t i = 0; i < d->n; i++)
        if (d->v[i].var)
            add_sub(t, subs, &n, d->v[i].var, has_digits ? t->digits[i] : NULL);
    for (size_t i = 0; i < d->n_others; i++) {
        const char *text =
            d->others[i].digits
                ? hone_pool_printf(t->pool, "((%s)(%s))", hone_tile_type(t, d->others[i].var),
                                   joined_text(t, d->others[i].digits, ~0u))
                : NULL;
        add_sub(t, subs, &n, d->others[i].var, has_digits ? text : NULL);
    }
    for (size_t i = 0; i < t->k->n_axes; i++) {
        const struct hone_cuda_axis *a = &t->k->axes[i];
        const char *text = hone_pool_printf(t->pool, "((%s)(%s))", hone_tile_type(t, a->var),
                                            joined_text(t, digits_of_axis(t, a), ~0u));
        if (!is_axis_itself(t, a))
            add_sub(t, subs, &n, a->var, has_digits ? text : NULL);
    }
    for (size_t i = 0; i < t->g.n_loops; i++)
        add_sub(t, subs, &n, t->g.loops[i]->var, side == SUM ? t->g.loops[i]->var->name : NULL);
    return hone_cuda_inline(t->k, expr, subs, n);
}

/* What the sum's loops add to what the element gives; NULL: nothing. */
static const char *sum_text(const struct hone_tile *t, const struct hone_c_node *expr)
{
    unsigned m = hone_cuda_gather_mask(&t->g, expr);
    if (!(m & HONE_CUDA_ON_SUM))
        return NULL;
    const char *text = part_text(t, expr, SUM);
    return m & HONE_CUDA_ON_DIGITS
               ? hone_pool_printf(t->pool, "(%s) - (%s)", text, part_text(t, expr, NOTHING))
               : text;
}

/* What the element gives; NULL: nothing, all is the sum's. */
static const char *element_text(const struct hone_tile *t, const struct hone_c_node *expr)
{
    unsigned m = hone_cuda_gather_mask(&t->g, expr);
    return (m & HONE_CUDA_ON_SUM) && !(m & HONE_CUDA_ON_DIGITS) ? NULL
                                                                : part_text(t, expr, ELEMENT);
}

const char *hone_tile_offset(const struct hone_tile *t, const struct hone_cuda_factor *f,
                             bool is_sum)
{
    const char *out = NULL;
    for (size_t i = 0; i < f->n_offsets; i++) {
        const struct hone_c_node *expr = f->offsets[i].expr;
        const char *text = is_sum ? sum_text(t, expr) : element_text(t, expr);
        if (text)
            out = hone_pool_printf(t->pool, "%s%s(int64_t)(%s)", out ? out : "",
                                   f->offsets[i].is_negated ? " - "
                                   : out                    ? " + "
                                                            : "",
                                   text);
    }
    return out ? out : "0";
}

/* Its place in the list, where each text stands once. */
size_t hone_tile_number(struct hone_tile *t, struct hone_tile_numbers *list, const char *text)
{
    size_t i = 0;
    while (i < list->n && strcmp(list->texts[i], text) != 0)
        i++;
    if (i == HONE_TILE_MAX_NUMBERS) {
        t->is_full = true;
        return 0;
    }
    list->texts[i] = text;
    list->n = i == list->n ? i + 1 : list->n;
    return i;
}

/* ---- the guard ---- */

static const char *held_text(struct hone_tile *t, const char *text)
{
    return hone_pool_printf(t->pool, "%s_%zu", t->held, hone_tile_number(t, &t->by_column, text));
}

static const char *fixed_text(struct hone_tile *t, const char *text)
{
    return hone_pool_printf(t->pool, "%s_%zu", t->fixed, hone_tile_number(t, &t->by_launch, text));
}

static const char *moved_text(struct hone_tile *t, const char *text)
{
    return hone_pool_printf(t->pool, "%s.v[%zu]", t->entry, hone_tile_number(t, &t->by_sum, text));
}

/* One side of a comparison; less: what is taken away from it, NULL for nothing. */
static const char *side_text(struct hone_tile *t, const struct hone_c_node *expr, bool is_narrow,
                             const char *less)
{
    const char *sum = sum_text(t, expr), *element = element_text(t, expr),
               *as = is_narrow ? "(int)" : "";
    bool is_fixed = hone_cuda_gather_mask(&t->g, expr) == 0;
    if (element)
        element = hone_pool_printf(t->pool, "%s(%s)%s%s", as, element, less ? " - " : "",
                                   less ? less : "");
    if (sum)
        sum = hone_pool_printf(t->pool, "%s(%s)", as, sum);
    if (is_fixed)
        return fixed_text(t, element);
    if (!sum || !element)
        return sum ? moved_text(t, sum) : held_text(t, element);
    return hone_pool_printf(t->pool, "(%s + %s)", held_text(t, element), moved_text(t, sum));
}

static const char *comparison_text(struct hone_tile *t, const struct hone_c_node *n)
{
    bool is_unsigned = hone_cuda_is_unsigned(n);
    const char *sides[2];
    for (int i = 0; i < 2; i++) {
        const struct hone_c_node *s = i == 0 ? n->first : n->last;
        sides[i] = side_text(t, s, is_unsigned && !strstr(s->type, "long"), NULL);
    }
    return hone_pool_printf(t->pool, "%s%s %s %s%s", is_unsigned ? "(unsigned)" : "", sides[0],
                            n->op, is_unsigned ? "(unsigned)" : "", sides[1]);
}

static const char *guard_text(struct hone_tile *t, const struct hone_c_node *cond)
{
    if (hone_cuda_gather_mask(&t->g, cond) == 0) {
        const char *text = hone_cuda_inline(t->k, cond, NULL, 0);
        t->is_full = t->is_full || !text;
        return hone_pool_printf(t->pool, "(bool)(%s)", text ? text : "");
    }
    const struct hone_c_node *n = hone_cuda_behind(t->k, cond);
    if (n->kind == HONE_C_UNARY)
        return hone_pool_printf(t->pool, "!(%s)", guard_text(t, n->first));
    if (hone_cuda_is_comparison(n))
        return comparison_text(t, n);
    return hone_pool_printf(t->pool, "((%s) %c%c (%s))", guard_text(t, n->first), n->op[0],
                            n->op[0], guard_text(t, n->last));
}

struct leaf { /* what must hold, or must not */
    const struct hone_c_node *expr;
    bool is_negated, is_done;
};
struct bound { /* value >= limit + past, or value < limit + past */
    const struct hone_c_node *value, *limit;
    bool is_lower;
    int past;
};

static size_t flatten(const struct hone_tile *t, const struct hone_c_node *cond, bool is_negated,
                      struct leaf *ret, size_t n)
{
    const struct hone_c_node *e = hone_cuda_behind(t->k, cond);
    if (e->kind == HONE_C_UNARY && strcmp(e->op, "!") == 0)
        return flatten(t, e->first, !is_negated, ret, n);
    if (e->kind == HONE_C_BINARY && strcmp(e->op, is_negated ? "||" : "&&") == 0)
        return flatten(t, e->last, is_negated, ret, flatten(t, e->first, is_negated, ret, n));
    if (n < MAX_LEAVES)
        ret[n] = (struct leaf){e, is_negated, false};
    return n + 1;
}

/* A signed comparison of a number that moves with one that does not. */
static bool read_bound(const struct hone_tile *t, const struct leaf *leaf, struct bound *ret)
{
    const struct hone_c_node *n = leaf->expr;
    if (leaf->is_done || !hone_cuda_is_comparison(n) || !strchr("<>", n->op[0]) ||
        hone_cuda_is_unsigned(n))
        return false;
    bool is_left = hone_cuda_gather_mask(&t->g, n->last) == 0;
    if (!is_left && hone_cuda_gather_mask(&t->g, n->first) != 0)
        return false;
    ret->value = is_left ? n->first : n->last;
    ret->limit = is_left ? n->last : n->first;
    /* value > limit, value >= limit; negated value <= limit, value < limit */
    bool is_greater = (n->op[0] == '>') == is_left, is_equal = n->op[1] == '=';
    ret->is_lower = is_greater != leaf->is_negated;
    is_equal = is_equal != leaf->is_negated;
    ret->past = ret->is_lower ? !is_equal : is_equal;
    return hone_cuda_gather_mask(&t->g, ret->value) & HONE_CUDA_ON_DIGITS;
}

/* low <= value < high is one comparison of numbers without a sign. */
static const char *within_text(struct hone_tile *t, const struct bound *low,
                               const struct bound *high)
{
    const char *from = part_text(t, low->limit, NOTHING), *to = part_text(t, high->limit, NOTHING);
    from = hone_pool_printf(t->pool, "((int64_t)(%s) + %d)", from, low->past);
    to = hone_pool_printf(t->pool, "((int64_t)(%s) + %d)", to, high->past);
    const char *range = hone_pool_printf(t->pool, "%s > %s ? %s - %s : 0", to, from, to, from);
    const char *value = side_text(t, low->value, false, from);
    return hone_pool_printf(t->pool, "(unsigned)%s < (unsigned)%s", value, fixed_text(t, range));
}

static bool is_same(const struct hone_tile *t, const struct hone_c_node *a,
                    const struct hone_c_node *b)
{
    const char *x = sum_text(t, a), *y = sum_text(t, b);
    return strcmp(part_text(t, a, ELEMENT), part_text(t, b, ELEMENT)) == 0 &&
           (x && y ? strcmp(x, y) == 0 : x == y);
}

/* " & ..." for all conditions, so that no branch comes of it; NULL: there are too many. */
const char *hone_tile_guards(struct hone_tile *t)
{
    struct leaf leaves[MAX_LEAVES];
    const char *out = "";
    size_t n = 0;
    for (size_t i = 0; i < t->g.n_conds; i++)
        n = flatten(t, t->g.conds[i].expr, t->g.conds[i].is_negated, leaves, n);
    if (n > MAX_LEAVES)
        return NULL;
    for (size_t i = 0; i < n; i++) {
        struct bound a, b;
        const char *text = NULL;
        for (size_t j = i + 1; j < n && !text && read_bound(t, &leaves[i], &a); j++) {
            if (!read_bound(t, &leaves[j], &b) || a.is_lower == b.is_lower ||
                !is_same(t, a.value, b.value))
                continue;
            text = within_text(t, a.is_lower ? &a : &b, a.is_lower ? &b : &a);
            leaves[j].is_done = true;
        }
        if (leaves[i].is_done)
            continue;
        if (!text)
            text = hone_pool_printf(t->pool, leaves[i].is_negated ? "!(%s)" : "%s",
                                    guard_text(t, leaves[i].expr));
        out = hone_pool_printf(t->pool, "%s & (%s)", out, text);
    }
    return out;
}

/* ---- factors ---- */

/* The factor with another place to load from. */
const char *hone_tile_load(const struct hone_tile *t, const struct hone_cuda_factor *f,
                           const struct hone_c_node *n, const char *pointer, const char *offset)
{
    if (n == f->load) {
        bool is_address = strchr(n->type, '*') != NULL;
        return hone_pool_printf(t->pool, is_address ? "(%s + %s)" : "%s[%s]", pointer, offset);
    }
    const struct hone_c_node *inner = n->last;
    const char *before = "(", *type = "";
    if (n->kind == HONE_C_REF) {
        inner = n->decl->last;
        type = n->decl->type;
    } else if (n->kind == HONE_C_CAST) {
        type = n->type;
    } else if (n->kind == HONE_C_CONDITIONAL) {
        inner = hone_cuda_chosen(&t->g, n);
    } else if (n->kind == HONE_C_UNARY) {
        before = "-(";
    } else if (n->kind == HONE_C_CALL && !hone_cuda_is_copy(n)) {
        before = hone_pool_printf(t->pool, "%s(", n->name);
    }
    if (*type)
        before = hone_pool_printf(t->pool, "(%s)(", type + (strncmp(type, "const ", 6) ? 0 : 6));
    const char *text = hone_tile_load(t, f, inner, pointer, offset);
    return hone_pool_printf(t->pool, "%s%s)", before, text);
}

bool hone_tile_is_along_sum(const struct hone_tile *t, const struct hone_cuda_factor *f)
{
    for (size_t i = 0; i < f->n_offsets; i++) {
        struct hone_c_poly p = hone_c_poly_of(t->k->function, f->offsets[i].expr);
        if (hone_c_poly_stride(&p, t->g.loops[t->g.n_loops - 1]->var) == HONE_C_STRIDE_UNIT)
            return true;
    }
    return false;
}
