/* SPDX-License-Identifier: Apache-2.0 */
/* G05 with G06 and G11: a sum of gathered factors as a product of matrices that nobody stores
 * (implicit GEMM; direct convolutions).
 *
 *     acc = init; for c for q for r if (inside) acc += L[o, c, q, r] * R[n, c, y + q, x + r];
 *
 * The sum's loops become one index k, the element's indices (digits, cuda_gather.h) rows and
 * columns. A block has BM x BN elements; for every BK steps of k it brings a part of L and a part of
 * R into shared memory, and each thread adds up TM x TN elements in registers. While it does, the
 * next parts are on their way. What an element gives to an address or to a side of the guard is
 * computed once for each row and column; what k gives, once for each k by one thread, and stands in
 * a small table; a load adds the two. The digits of k go on by addition with carries.
 *
 * Where a tap was skipped 0 * L stands for it: a sum that is no number is made again as it was
 * written. So is every sum where one of these numbers does not fit into 29 bits. */
#include <string.h>

#include "agents/rewrites/coder_rules.h"
#include "agents/source/cuda_contraction.h"
#include "agents/source/cuda_gather.h"

enum { MAX_NUMBERS = 12, MAX_LEAVES = 16, MAX_SUBS = 2 * HONE_CUDA_MAX_DIGITS + 8 };

struct numbers {
    const char *texts[MAX_NUMBERS];
    size_t n;
};

struct tile {
    const struct hone_cuda_kernel *k;
    struct hone_cuda_gather g;
    struct hone_pool *pool;
    const char *bm, *bn, *bk, *tm, *tn;                /* tunables */
    const char *digits[HONE_CUDA_MAX_DIGITS];          /* their names */
    const char *moved, *held, *fixed, *u, *entry, *at; /* names in the new text */
    struct numbers by_sum, by_column, by_launch;       /* what is added up to offsets and guards */
    bool is_full;                                      /* there were too many numbers */
};

static size_t sites(const struct hone_coder_input *in, struct hone_coder_site *ret, size_t max)
{
    const struct hone_cuda_kernel *all[HONE_CUDA_MAX_KERNELS];
    size_t n_all = hone_cuda_kernels(in, all, HONE_CUDA_MAX_KERNELS), n = 0;
    for (size_t i = 0; i < n_all && n < max && !hone_rounds_as_written(in); i++) {
        struct hone_cuda_gather g;
        if (hone_cuda_read_gather(all[i], &g))
            ret[n++] =
                hone_cuda_site(all[i], 0, "each factor of the sum is read again by many elements");
    }
    return n;
}

/* ---- digits ---- */

static const char *type_of(const struct tile *t, const struct hone_c_node *var)
{
    const char *type = var ? hone_cuda_type(t->k->in, var) : "int64_t";
    return strcmp(type, "auto") != 0 ? type : var->type + (strncmp(var->type, "const ", 6) ? 0 : 6);
}

static const char *factor_text(const struct tile *t, const struct hone_c_factor *f,
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
    return text ? hone_pool_printf(t->pool, "(%s)(%s)", type_of(t, f->decl), text) : NULL;
}

/* A product in 64 bits, in the kernel or at a launch; NULL: it is not known there. */
static const char *term_text(const struct tile *t, const struct hone_c_term *term,
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

static const char *size_text(const struct tile *t, size_t i, const struct hone_cuda_launch *l)
{
    const struct hone_cuda_digit *d = &t->g.digits.v[i];
    if (!d->is_open)
        return term_text(t, &d->size, l);
    const char *bound = l ? hone_cuda_at_launch(t->k, l, d->axis->bound)
                          : hone_cuda_inline(t->k, d->axis->bound, NULL, 0),
               *below = term_text(t, &d->below, l);
    if (!bound || !below)
        return NULL;
    if (hone_cuda_is_one(&d->below))
        return hone_pool_printf(t->pool, "((int64_t)(%s))", bound);
    return hone_pool_printf(t->pool, "(((int64_t)(%s) + %s - 1) / %s)", bound, below, below);
}

/* How many rows, or columns. */
static const char *count_text(const struct tile *t, unsigned mask, const struct hone_cuda_launch *l)
{
    const char *out = NULL;
    for (size_t i = 0; i < t->g.digits.n; i++) {
        const char *size = mask & 1u << i ? size_text(t, i, l) : "";
        if (!size)
            return NULL;
        if (*size)
            out = out ? hone_pool_printf(t->pool, "%s * %s", out, size) : size;
    }
    return out;
}

/* The number put together from those of its digits that are in the mask, the others zero. */
static const char *joined_text(const struct tile *t, unsigned of, unsigned mask)
{
    const char *out = NULL;
    for (size_t i = t->g.digits.n; i-- > 0;) {
        if (!(of & 1u << i))
            continue;
        const char *digit = mask & 1u << i ? t->digits[i] : "0";
        out = out ? hone_pool_printf(t->pool, "(%s * %s + %s)", out, size_text(t, i, NULL), digit)
                  : hone_pool_printf(t->pool, "(int64_t)%s", digit);
    }
    return out;
}

static unsigned digits_of_axis(const struct tile *t, const struct hone_cuda_axis *axis)
{
    unsigned out = 0;
    for (size_t i = 0; i < t->g.digits.n; i++)
        out |= t->g.digits.v[i].axis == axis ? 1u << i : 0;
    return out;
}

static bool is_axis_itself(const struct tile *t, const struct hone_cuda_axis *axis)
{
    for (size_t i = 0; i < t->g.digits.n; i++)
        if (t->g.digits.v[i].var == axis->var)
            return true;
    return false;
}

/* Declares the digits of a row or a column. */
static const char *split_text(const struct tile *t, unsigned mask, const char *from)
{
    const char *out = "", *rest = from;
    for (size_t i = 0; i < t->g.digits.n; i++) {
        if (!(mask & 1u << i))
            continue;
        bool is_last = (mask >> i) == 1;
        const char *type = type_of(t, t->g.digits.v[i].var), *size = size_text(t, i, NULL);
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
static const char *bounds_text(const struct tile *t, unsigned mask)
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
static const char *clamped_text(const struct tile *t, unsigned mask, const char *from)
{
    const char *split = split_text(t, mask, from), *bounds = bounds_text(t, mask);
    return *bounds ? hone_pool_printf(t->pool, "{\n%sif (!(true%s))\n%s = 0;\n}\n%s", split, bounds,
                                      from, split)
                   : split;
}

/* Declares the axes whose digits are known. */
static const char *axes_text(const struct tile *t)
{
    const char *out = "";
    for (size_t i = 0; i < t->k->n_axes; i++) {
        const struct hone_cuda_axis *a = &t->k->axes[i];
        if (is_axis_itself(t, a))
            continue;
        const char *type = type_of(t, a->var);
        out = hone_pool_printf(t->pool, "%s[[maybe_unused]] const %s %s = (%s)(%s);\n", out, type,
                               a->var->name, type, joined_text(t, digits_of_axis(t, a), ~0u));
    }
    return out;
}

/* ---- split expressions ---- */

enum side { ELEMENT, SUM, NOTHING }; /* whose part of an expression is asked for */

static void add_sub(const struct tile *t, struct hone_cuda_sub *subs, size_t *n,
                    const struct hone_c_node *var, const char *text)
{
    if (!text)
        text = hone_pool_printf(t->pool, "((%s)0)", type_of(t, var));
    subs[(*n)++] = (struct hone_cuda_sub){var, text};
}

static const char *part_text(const struct tile *t, const struct hone_c_node *expr, enum side side)
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
                ? hone_pool_printf(t->pool, "((%s)(%s))", type_of(t, d->others[i].var),
                                   joined_text(t, d->others[i].digits, ~0u))
                : NULL;
        add_sub(t, subs, &n, d->others[i].var, has_digits ? text : NULL);
    }
    for (size_t i = 0; i < t->k->n_axes; i++) {
        const struct hone_cuda_axis *a = &t->k->axes[i];
        const char *text = hone_pool_printf(t->pool, "((%s)(%s))", type_of(t, a->var),
                                            joined_text(t, digits_of_axis(t, a), ~0u));
        if (!is_axis_itself(t, a))
            add_sub(t, subs, &n, a->var, has_digits ? text : NULL);
    }
    for (size_t i = 0; i < t->g.n_loops; i++)
        add_sub(t, subs, &n, t->g.loops[i]->var, side == SUM ? t->g.loops[i]->var->name : NULL);
    return hone_cuda_inline(t->k, expr, subs, n);
}

/* What the sum's loops add to what the element gives; NULL: nothing. */
static const char *sum_text(const struct tile *t, const struct hone_c_node *expr)
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
static const char *element_text(const struct tile *t, const struct hone_c_node *expr)
{
    unsigned m = hone_cuda_gather_mask(&t->g, expr);
    return (m & HONE_CUDA_ON_SUM) && !(m & HONE_CUDA_ON_DIGITS) ? NULL
                                                                : part_text(t, expr, ELEMENT);
}

static const char *offset_text(const struct tile *t, const struct hone_cuda_factor *f, bool is_sum)
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
static size_t number_of(struct tile *t, struct numbers *list, const char *text)
{
    size_t i = 0;
    while (i < list->n && strcmp(list->texts[i], text) != 0)
        i++;
    if (i == MAX_NUMBERS) {
        t->is_full = true;
        return 0;
    }
    list->texts[i] = text;
    list->n = i == list->n ? i + 1 : list->n;
    return i;
}

/* ---- the guard ---- */

static const char *held_text(struct tile *t, const char *text)
{
    return hone_pool_printf(t->pool, "%s_%zu[%s]", t->held, number_of(t, &t->by_column, text),
                            t->u);
}

static const char *fixed_text(struct tile *t, const char *text)
{
    return hone_pool_printf(t->pool, "%s_%zu", t->fixed, number_of(t, &t->by_launch, text));
}

static const char *moved_text(struct tile *t, const char *text)
{
    return hone_pool_printf(t->pool, "%s.v[%zu]", t->entry, number_of(t, &t->by_sum, text));
}

/* One side of a comparison; less: what is taken away from it, NULL for nothing. */
static const char *side_text(struct tile *t, const struct hone_c_node *expr, bool is_narrow,
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

static const char *comparison_text(struct tile *t, const struct hone_c_node *n)
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

static const char *guard_text(struct tile *t, const struct hone_c_node *cond)
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

static size_t flatten(const struct tile *t, const struct hone_c_node *cond, bool is_negated,
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
static bool read_bound(const struct tile *t, const struct leaf *leaf, struct bound *ret)
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
static const char *within_text(struct tile *t, const struct bound *low, const struct bound *high)
{
    const char *from = part_text(t, low->limit, NOTHING), *to = part_text(t, high->limit, NOTHING);
    from = hone_pool_printf(t->pool, "((int64_t)(%s) + %d)", from, low->past);
    to = hone_pool_printf(t->pool, "((int64_t)(%s) + %d)", to, high->past);
    const char *range = hone_pool_printf(t->pool, "%s > %s ? %s - %s : 0", to, from, to, from);
    const char *value = side_text(t, low->value, false, from);
    return hone_pool_printf(t->pool, "(unsigned)%s < (unsigned)%s", value, fixed_text(t, range));
}

static bool is_same(const struct tile *t, const struct hone_c_node *a, const struct hone_c_node *b)
{
    const char *x = sum_text(t, a), *y = sum_text(t, b);
    return strcmp(part_text(t, a, ELEMENT), part_text(t, b, ELEMENT)) == 0 &&
           (x && y ? strcmp(x, y) == 0 : x == y);
}

/* " & ..." for all conditions, so that no branch comes of it; NULL: there are too many. */
static const char *guards_text(struct tile *t)
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
static const char *load_text(const struct tile *t, const struct hone_cuda_factor *f,
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
    } else if (n->kind == HONE_C_CALL) {
        before = hone_pool_printf(t->pool, "%s(", n->name);
    }
    if (*type)
        before = hone_pool_printf(t->pool, "(%s)(", type + (strncmp(type, "const ", 6) ? 0 : 6));
    const char *text = load_text(t, f, inner, pointer, offset);
    return hone_pool_printf(t->pool, "%s%s)", before, text);
}

static bool is_along_sum(const struct tile *t, const struct hone_cuda_factor *f)
{
    for (size_t i = 0; i < f->n_offsets; i++) {
        struct hone_c_poly p = hone_c_poly_of(t->k->function, f->offsets[i].expr);
        if (hone_c_poly_stride(&p, t->g.loops[t->g.n_loops - 1]->var) == HONE_C_STRIDE_UNIT)
            return true;
    }
    return false;
}

/* ---- the text ---- */

static const char begin_text[] =
    "constexpr int @VEC@ = 16 / sizeof(@T@), @ACROSS@ = @BN@ / @TN@;\n"
    "constexpr int @THREADS@ = @BM@ / @TM@ * @ACROSS@, @WARPS@ = @THREADS@ / 32;\n"
    "constexpr int @LEFT_PARTS@ = @TM@ / @VEC@, @RIGHT_PARTS@ = @TN@ / @VEC@;\n"
    "/* COLUMNS of one thread, or SHARERS of one column */\n"
    "constexpr int @COLUMNS@ = @BN@ > @THREADS@ ? @BN@ / @THREADS@ : 1;\n"
    "constexpr int @SHARERS@ = @BN@ > @THREADS@ ? 1 : @THREADS@ / @BN@;\n"
    "constexpr int @LEFT_EACH@ = @BM@ * @BK@ / @THREADS@, @RIGHT_EACH@ = @BK@ / @SHARERS@;\n"
    "static_assert(@TM@ * @TN@ <= 64 && @BM@ * @BK@ % @THREADS@ == 0 && @BK@ % @SHARERS@ == 0 &&\n"
    "@BK@ <= 32 && @THREADS@ % 32 == 0 && @THREADS@ <= 1024, \"no such tile\");\n"
    "alignas(16) __shared__ @T@ @left_tile@[2][@BK@][@BM@ + @VEC@];\n"
    "alignas(16) __shared__ @T@ @right_tile@[2][@BK@][@BN@ + @VEC@];\n"
    "/* what k adds to the offsets and to the guards */\n"
    "__shared__ vector_of<int, @N_MOVED@> @moved@[2][@BK@];\n"
    "__shared__ int64_t @left_from@[@BM@];\n"
    "__shared__ int @column_digits@[@N_DIGITS@][@BN@], @k_steps@[@N_LOOPS@], @is_far@;\n"
    "const int64_t @n_rows@ = @ROW_COUNT@, @n_columns@ = @COLUMN_COUNT@;\n"
    "const int64_t @row_tiles@ = (@n_rows@ + @BM@ - 1) / @BM@;\n"
    "const int64_t @row_at@ = blockIdx.x % @row_tiles@ * @BM@;\n"
    "const int64_t @column_at@ = blockIdx.x / @row_tiles@ * @BN@;\n"
    "/* far: a number is too large for the tables */\n"
    "bool @far@ = false;\n"
    "@counts@"
    "const int @n_k@ = @far@ ? 0 : (int)(@product@);\n"
    "@steps@"
    "if (threadIdx.x == 0)\n"
    "@is_far@ = 0;\n"
    "__syncthreads();\n"
    "@fixed_parts@"
    "for (int @i@ = threadIdx.x; @i@ < @BM@; @i@ += @THREADS@) {\n"
    "int64_t @row@ = @row_at@ + @i@ < @n_rows@ ? @row_at@ + @i@ : 0;\n"
    "@row_digits@"
    "@left_from@[@i@] = @left_offset@;\n"
    "}\n"
    "const int @sharer@ = threadIdx.x / @BN@ % @SHARERS@;\n"
    "const bool @is_loader@ = @COLUMNS@ > 1 || @THREADS@ % @BN@ == 0 || threadIdx.x < @SHARERS@ * "
    "@BN@;\n"
    "const @RIGHT_T@ *@right_from@[@COLUMNS@];\n"
    "@held_parts@"
    "int @place@[@COLUMNS@];\n"
    "#pragma unroll\n"
    "for (int @u@ = 0; @u@ < @COLUMNS@; @u@++) {\n"
    "const int @at@ = threadIdx.x % @BN@ + @u@ * @THREADS@;\n"
    "int64_t @column@ = @column_at@ + @at@ < @n_columns@ ? @column_at@ + @at@ : 0;\n"
    "@column_split@"
    "@right_from@[@u@] = @right_root@ + (@right_offset@);\n"
    "@held_values@"
    "/* neighbours lie in neighbouring threads, VEC of a thread side by side */\n"
    "@place@[@u@] = @at@ / (@ACROSS@ * @VEC@) * (@ACROSS@ * @VEC@) + @at@ % @ACROSS@ * @VEC@ +\n"
    "@at@ / @ACROSS@ % @VEC@;\n"
    "if (threadIdx.x < @BN@) {\n"
    "@keep_digits@"
    "}\n"
    "}\n"
    "if (@far@)\n"
    "@is_far@ = 1;\n"
    "const int @thread_row@ = threadIdx.x / @ACROSS@ * @VEC@;\n"
    "const int @thread_column@ = threadIdx.x % @ACROSS@;\n";

static const char loop_text[] =
    "@T@ @left_next@[@LEFT_EACH@], @right_next@[@RIGHT_EACH@][@COLUMNS@];\n"
    "@T@ @total@[@TM@][@TN@] = {};\n"
    "int @now@ = 0;\n"
    "/* The first turn only fills a table, the second one only fetches. */\n"
    "for (int @k_at@ = -2 * @BK@; @k_at@ < @n_k@; @k_at@ += @BK@, @now@ ^= 1) {\n"
    "const int @left_over@ = @k_at@ < -@BK@ || @is_far@ ? 0 : @n_k@ - @k_at@ - @BK@;\n"
    "if (@left_over@ > 0) {\n"
    "#pragma unroll\n"
    "for (int @v@ = 0; @v@ < @LEFT_EACH@; @v@++) {\n"
    "const int @e@ = threadIdx.x + @v@ * @THREADS@;\n"
    "@left_next@[@v@] = @left_k@ < @left_over@ ? (@T@)(@left@) : (@T@)0;\n"
    "}\n"
    "#pragma unroll\n"
    "for (int @v@ = 0; @v@ < @RIGHT_EACH@; @v@++) {\n"
    "const int @k@ = @sharer@ + @v@ * @SHARERS@;\n"
    "const vector_of<int, @N_MOVED@> @entry@ = @moved@[@now@][@k@];\n"
    "const bool @is_summed@ = (@k@ < @left_over@) & @is_loader@;\n"
    "#pragma unroll\n"
    "for (int @u@ = 0; @u@ < @COLUMNS@; @u@++)\n"
    "@right_next@[@v@][@u@] = @is_summed@@guard@ ? (@T@)(@right@) : (@T@)0;\n"
    "}\n"
    "}\n"
    "/* the warps fill the tables in turn */\n"
    "if ((unsigned)(@k_at@ + 2 * @BK@) / @BK@ % @WARPS@ == threadIdx.x / 32 && threadIdx.x % 32 < "
    "@BK@) {\n"
    "const bool @is_k@ = @k_at@ + 2 * @BK@ + (int)threadIdx.x % 32 < @n_k@;\n"
    "vector_of<int, @N_MOVED@> &@entry@ = @moved@[@now@ ^ 1][threadIdx.x % 32];\n"
    "bool @far_k@ = false;\n"
    "@loop_values@"
    "@moved_values@"
    "if (@is_k@ && @far_k@)\n"
    "@is_far@ = 1;\n"
    "@advance@"
    "}\n"
    "if (@k_at@ >= 0) {\n"
    "#pragma unroll\n"
    "for (int @step@ = 0; @step@ < @BK@; @step@++) {\n"
    "vector_of<@T@, @VEC@> @left_part@[@LEFT_PARTS@], @right_part@[@RIGHT_PARTS@];\n"
    "#pragma unroll\n"
    "for (int @p@ = 0; @p@ < @LEFT_PARTS@; @p@++)\n"
    "@left_part@[@p@] = *(const vector_of<@T@, @VEC@> *)&@left_tile@[@now@][@step@][@p@ * (@BM@ / "
    "@LEFT_PARTS@) + @thread_row@];\n"
    "#pragma unroll\n"
    "for (int @p@ = 0; @p@ < @RIGHT_PARTS@; @p@++)\n"
    "@right_part@[@p@] = *(const vector_of<@T@, @VEC@> *)&@right_tile@[@now@][@step@][(@p@ * "
    "@ACROSS@ + @thread_column@) * @VEC@];\n"
    "#pragma unroll\n"
    "for (int @r@ = 0; @r@ < @TM@; @r@++)\n"
    "#pragma unroll\n"
    "for (int @c@ = 0; @c@ < @TN@; @c@++)\n"
    "@total@[@r@][@c@] += @left_part@[@r@ / @VEC@].v[@r@ % @VEC@] * @right_part@[@c@ / "
    "@VEC@].v[@c@ % @VEC@];\n"
    "}\n"
    "}\n"
    "if (@left_over@ > 0) {\n"
    "#pragma unroll\n"
    "for (int @v@ = 0; @v@ < @LEFT_EACH@; @v@++) {\n"
    "const int @e@ = threadIdx.x + @v@ * @THREADS@;\n"
    "@left_tile@[@now@ ^ 1][@left_k@][@left_row@] = @left_next@[@v@];\n"
    "}\n"
    "#pragma unroll\n"
    "for (int @v@ = 0; @v@ < @RIGHT_EACH@; @v@++)\n"
    "#pragma unroll\n"
    "for (int @u@ = 0; @u@ < @COLUMNS@; @u@++)\n"
    "if (@is_loader@)\n"
    "@right_tile@[@now@ ^ 1][@sharer@ + @v@ * @SHARERS@][@place@[@u@]] = @right_next@[@v@][@u@];\n"
    "}\n"
    "__syncthreads();\n"
    "}\n";

static const char end_text[] =
    "uint64_t @again@ = 0;\n"
    "#pragma unroll\n"
    "for (int @c@ = 0; @c@ < @TN@; @c@++) {\n"
    "const int @at@ = @c@ * @ACROSS@ + @thread_column@;\n"
    "@read_digits@"
    "#pragma unroll\n"
    "for (int @r@ = 0; @r@ < @TM@; @r@++) {\n"
    "const int64_t @row@ = @row_at@ + @r@ / @VEC@ * (@BM@ / @LEFT_PARTS@) + @thread_row@ + @r@ % "
    "@VEC@;\n"
    "@row_split@"
    "@axes@"
    "if (@row@ < @n_rows@ && @column_at@ + @at@ < @n_columns@@bounds@) {\n"
    "if (@is_far@@is_odd@) {\n"
    "@again@ |= (uint64_t)1 << (@c@ * @TM@ + @r@);\n"
    "} else {\n"
    "@finish@"
    "}\n"
    "}\n"
    "}\n"
    "}\n"
    "/* What is far or no number is made as it was written. */\n"
    "for (int @i@ = 0; @again@ != 0; @i@++, @again@ >>= 1) {\n"
    "if (@again@ & 1) {\n"
    "const int @r@ = @i@ % @TM@;\n"
    "const int64_t @row@ = @row_at@ + @r@ / @VEC@ * (@BM@ / @LEFT_PARTS@) + @thread_row@ + @r@ % "
    "@VEC@;\n"
    "const int64_t @column@ = @column_at@ + @i@ / @TM@ * @ACROSS@ + @thread_column@;\n"
    "@row_split@"
    "@column_again@"
    "@axes@"
    "@written@"
    "}\n"
    "}\n";

struct text { /* names that several pieces share */
    const char *far, *far_k, *total, *r, *c, *row, *column, *column_digits, *e, *k_digit, *step,
        *k_steps;
};

static const char *bad_text(const struct tile *t, const char *value)
{
    return hone_pool_printf(t->pool, "(uint64_t)(%s + (1 << 28)) >> 29 != 0", value);
}

/* How often a loop of the sum goes round, if it does; NULL: it changes. */
static const char *loop_count(const struct tile *t, const struct hone_c_loop *l)
{
    const char *lower = hone_cuda_bracket(t->k, l->lower),
               *upper = hone_cuda_bracket(t->k, l->upper);
    return lower && upper ? hone_pool_printf(t->pool, "((int64_t)%s - (int64_t)%s%s)", upper, lower,
                                             l->is_inclusive ? " + 1" : "")
                          : NULL;
}

static const char *counts_text(const struct tile *t, const struct text *x, const char **ret_product)
{
    const char *out = "", *product = "(int64_t)1", *rough = "1.0";
    for (size_t i = 0; i < t->g.n_loops; i++) {
        const char *wide = loop_count(t, t->g.loops[i]);
        if (!wide)
            return NULL;
        out = hone_pool_printf(t->pool,
                               "%s%s |= %s >= 1 << 28;\nconst int %s_n%zu = %s > 0 ? (int)%s : "
                               "0;\n",
                               out, x->far, wide, x->k_digit, i, wide, wide);
        product = hone_pool_printf(t->pool, "%s * %s_n%zu", product, x->k_digit, i);
        rough = hone_pool_printf(t->pool, "%s * %s_n%zu", rough, x->k_digit, i);
    }
    *ret_product = product;
    return hone_pool_printf(t->pool, "%s%s |= %s >= 1 << 28;\n", out, x->far, rough);
}

/* The digits of this thread's first k, and of the step from one of its tables to the next. */
static const char *steps_text(const struct tile *t, const struct text *x, const char *n_k,
                              const char *warps)
{
    const char *out = "", *firsts = "", *steps = "";
    const char *d = x->k_digit, *s = x->k_steps;
    for (size_t i = 0; i < t->g.n_loops; i++)
        out = hone_pool_printf(t->pool, "%sint %s_%zu = 0;\n", out, d, i);
    for (size_t i = t->g.n_loops; i-- > 1;) {
        firsts =
            hone_pool_printf(t->pool, "%s%s_%zu = %s_first %% %s_n%zu;\n%s_first /= %s_n%zu;\n",
                             firsts, d, i, d, d, i, d, d, i);
        steps = hone_pool_printf(t->pool, "%s%s[%zu] = %s_rest %% %s_n%zu;\n%s_rest /= %s_n%zu;\n",
                                 steps, s, i, d, d, i, d, d, i);
    }
    return hone_pool_printf(t->pool,
                            "%sif (%s > 0) {\n"
                            "int %s_first = (int)threadIdx.x / 32 * %s + (int)threadIdx.x %% 32;\n"
                            "%s%s_0 = %s_first;\n}\n"
                            "if (%s > 0 && threadIdx.x == 0) {\n"
                            "int %s_rest = %s * %s;\n"
                            "%s%s[0] = %s_rest;\n}\n",
                            out, n_k, d, t->bk, firsts, d, d, n_k, d, warps, t->bk, steps, s, d);
}

static const char *advance_text(const struct tile *t, const struct text *x)
{
    const char *out = "", *d = x->k_digit;
    for (size_t i = t->g.n_loops; i-- > 0;) {
        const char *count = hone_pool_printf(t->pool, "(int)%s", loop_count(t, t->g.loops[i]));
        out = hone_pool_printf(t->pool, "%s%s_%zu += %s[%zu];\n", out, d, i, x->k_steps, i);
        if (i > 0)
            out = hone_pool_printf(t->pool, "%sif (%s_%zu >= %s) {\n%s_%zu -= %s;\n%s_%zu++;\n}\n",
                                   out, d, i, count, d, i, count, d, i - 1);
    }
    return out;
}

static const char *loop_values_text(const struct tile *t, const struct text *x)
{
    const char *out = "";
    for (size_t i = 0; i < t->g.n_loops; i++) {
        const struct hone_c_node *v = t->g.loops[i]->var;
        const char *type = type_of(t, v);
        out = hone_pool_printf(t->pool, "%s[[maybe_unused]] const %s %s = (%s)(%s + %s_%zu);\n",
                               out, type, v->name, type,
                               hone_cuda_bracket(t->k, t->g.loops[i]->lower), x->k_digit, i);
    }
    return out;
}

/* Each number is computed in 64 bits and kept in 32, in the place before..number..after. */
static const char *numbers_text(const struct tile *t, const struct numbers *list, const char *far,
                                const char *before, const char *after)
{
    const char *out = "";
    for (size_t i = 0; i < list->n; i++) {
        const char *wide = hone_fresh_name(t->k->in, "wide");
        out = hone_pool_printf(
            t->pool, "%s{\nconst int64_t %s = %s;\n%s |= %s;\n%s%zu%s = (int)%s;\n}\n", out, wide,
            list->texts[i], far, bad_text(t, wide), before, i, after, wide);
    }
    return out;
}

static const char *declared_text(const struct tile *t, const struct numbers *list, const char *stem,
                                 const char *size)
{
    const char *out = "";
    for (size_t i = 0; i < list->n; i++)
        out = hone_pool_printf(t->pool, "%sint %s_%zu%s;\n", out, stem, i, size);
    return out;
}

/* Column digits to shared memory, and from there. */
static const char *digits_text(const struct tile *t, const struct text *x, bool is_read)
{
    const char *out = "";
    size_t n = 0;
    for (size_t i = 0; i < t->g.digits.n; i++) {
        if (!(t->g.columns & 1u << i))
            continue;
        const char *type = type_of(t, t->g.digits.v[i].var);
        out = is_read
                  ? hone_pool_printf(t->pool, "%s[[maybe_unused]] const %s %s = (%s)%s[%zu][%s];\n",
                                     out, type, t->digits[i], type, x->column_digits, n, t->at)
                  : hone_pool_printf(
                        t->pool, "%s%s[%zu][%s] = (int)%s;\n%s |= %s;\n", out, x->column_digits, n,
                        t->at, t->digits[i], x->far,
                        bad_text(t, hone_pool_printf(t->pool, "(int64_t)%s", t->digits[i])));
        n++;
    }
    return out;
}

static bool declares_digits(const struct tile *t, const struct hone_c_node *s)
{
    bool is_all = s->kind == HONE_C_DECL_STMT && s->first;
    for (const struct hone_c_node *v = s->first; is_all && v; v = v->next) {
        bool is_one = false;
        for (size_t i = 0; i < t->g.digits.n; i++)
            is_one = is_one || t->g.digits.v[i].var == v;
        is_all = is_one;
    }
    return is_all;
}

/* The statements; total NULL: as they were written, else the nest gives way to adding the total. */
static const char *statements_text(const struct tile *t, const char *total)
{
    const struct hone_c_tree *tree = t->k->in->tree;
    HONE_CLEANUP(hone_buf_done) struct hone_buf out = HONE_BUF_INIT;
    for (size_t i = 0; i < t->k->n_stmts; i++) {
        const struct hone_c_node *s = t->k->stmts[i];
        if (declares_digits(t, s))
            continue;
        if (s == t->g.nest && total)
            hone_buf_printf(&out, "%s += %s;\n", t->g.acc->name, total);
        else
            hone_buf_printf(&out, "%.*s\n", (int)(hone_c_stmt_end(tree, s) - s->begin),
                            tree->source + s->begin);
    }
    return hone_pool_strdup(t->pool, out.data ? out.data : "");
}

static size_t count_bits(unsigned mask)
{
    return (size_t)__builtin_popcount(mask);
}

static bool knows_sizes(const struct tile *t)
{
    for (size_t i = 0; i < t->g.digits.n; i++) {
        const struct hone_cuda_digit *d = &t->g.digits.v[i];
        if (!size_text(t, i, NULL) || !term_text(t, &d->below, NULL) ||
            !hone_cuda_inline(t->k, d->axis->bound, NULL, 0))
            return false;
    }
    return true;
}

static const char *make_body(struct tile *t)
{
    if (!knows_sizes(t))
        return NULL;
    const struct hone_coder_input *in = t->k->in;
    struct hone_pool *pool = t->pool;
#define FRESH(stem) hone_fresh_name(in, stem)
    const struct text x = {FRESH("far"), FRESH("far_k"),   FRESH("total"),  FRESH("r"),
                           FRESH("c"),   FRESH("row"),     FRESH("column"), FRESH("column_digits"),
                           FRESH("e"),   FRESH("k_digit"), FRESH("step"),   FRESH("k_steps")};
    const char *now = FRESH("now"), *n_k = FRESH("n_k"), *columns = FRESH("COLUMNS"),
               *warps = FRESH("WARPS"), *product = NULL, *left_from = FRESH("left_from"),
               *right_from = FRESH("right_from");
    const char *right_type = hone_cuda_element_type(in, t->g.right.root);
    bool is_along = is_along_sum(t, &t->g.left);
    const char *left_k = hone_pool_printf(pool, is_along ? "(%s %% %s)" : "(%s / %s)", x.e,
                                          is_along ? t->bk : t->bm),
               *left_row = hone_pool_printf(pool, is_along ? "(%s / %s)" : "(%s %% %s)", x.e,
                                            is_along ? t->bk : t->bm);
    size_t left_at = number_of(t, &t->by_sum, offset_text(t, &t->g.left, true)),
           right_at = number_of(t, &t->by_sum, offset_text(t, &t->g.right, true));
    const char *guard = guards_text(t), *counts = counts_text(t, &x, &product);
    if (!guard || !counts || t->is_full || !right_type)
        return NULL;
    const char *left = load_text(t, &t->g.left, t->g.left.expr, t->g.left.root->name,
                                 hone_pool_printf(pool, "%s[%s] + %s[%s][%s].v[%zu]", left_from,
                                                  left_row, t->moved, now, left_k, left_at));
    const char *right = load_text(t, &t->g.right, t->g.right.expr,
                                  hone_pool_printf(pool, "%s[%s]", right_from, t->u),
                                  hone_pool_printf(pool, "%s.v[%zu]", t->entry, right_at));
    const char *total = hone_pool_printf(pool, "%s[%s][%s]", x.total, x.r, x.c);
    bool is_checked = t->g.n_conds > 0 && strcmp(t->g.acc->type, "int") != 0;
    size_t n_moved = 2; /* vectors have powers of two */
    while (n_moved < t->by_sum.n)
        n_moved *= 2;
    const struct hone_cuda_word words[] = {
        {"T", t->g.acc->type},
        {"BM", t->bm},
        {"BN", t->bn},
        {"BK", t->bk},
        {"TM", t->tm},
        {"TN", t->tn},
        {"RIGHT_T", right_type},
        {"WARPS", warps},
        {"COLUMNS", columns},
        {"N_MOVED", hone_pool_printf(pool, "%zu", n_moved)},
        {"N_DIGITS", hone_pool_printf(pool, "%zu", count_bits(t->g.columns))},
        {"ROW_COUNT", count_text(t, t->g.rows, NULL)},
        {"COLUMN_COUNT", count_text(t, t->g.columns, NULL)},
        {"far", x.far},
        {"far_k", x.far_k},
        {"total", x.total},
        {"r", x.r},
        {"c", x.c},
        {"row", x.row},
        {"column", x.column},
        {"column_digits", x.column_digits},
        {"e", x.e},
        {"step", x.step},
        {"k_steps", x.k_steps},
        {"N_LOOPS", hone_pool_printf(pool, "%zu", t->g.n_loops)},
        {"moved", t->moved},
        {"u", t->u},
        {"entry", t->entry},
        {"at", t->at},
        {"now", now},
        {"n_k", n_k},
        {"left_from", left_from},
        {"right_from", right_from},
        {"left_k", left_k},
        {"left_row", left_row},
        {"left", left},
        {"right", right},
        {"guard", guard},
        {"counts", counts},
        {"product", product},
        {"steps", steps_text(t, &x, n_k, warps)},
        {"advance", advance_text(t, &x)},
        {"loop_values", loop_values_text(t, &x)},
        {"fixed_parts",
         hone_pool_printf(
             pool, "%s%s", declared_text(t, &t->by_launch, t->fixed, ""),
             numbers_text(t, &t->by_launch, x.far, hone_pool_printf(pool, "%s_", t->fixed), ""))},
        {"held_parts",
         declared_text(t, &t->by_column, t->held, hone_pool_printf(pool, "[%s]", columns))},
        {"held_values",
         numbers_text(t, &t->by_column, x.far, hone_pool_printf(pool, "%s_", t->held),
                      hone_pool_printf(pool, "[%s]", t->u))},
        {"moved_values",
         numbers_text(t, &t->by_sum, x.far_k, hone_pool_printf(pool, "%s.v[", t->entry), "]")},
        {"row_digits", clamped_text(t, t->g.rows, x.row)},
        {"row_split", split_text(t, t->g.rows, x.row)},
        {"column_split", clamped_text(t, t->g.columns, x.column)},
        {"column_again", split_text(t, t->g.columns, x.column)},
        {"right_root", t->g.right.root->name},
        {"left_offset", offset_text(t, &t->g.left, false)},
        {"right_offset", offset_text(t, &t->g.right, false)},
        {"keep_digits", digits_text(t, &x, false)},
        {"read_digits", digits_text(t, &x, true)},
        {"axes", axes_text(t)},
        {"bounds", bounds_text(t, ~0u)},
        {"is_odd", is_checked ? hone_pool_printf(pool, " || !(%s == %s)", total, total) : ""},
        {"finish", statements_text(t, total)},
        {"written", statements_text(t, NULL)},
        {NULL, NULL},
    };
#undef FRESH
    return hone_pool_printf(pool, "%s%s%s", hone_cuda_fill(in, begin_text, words),
                            hone_cuda_fill(in, loop_text, words),
                            hone_cuda_fill(in, end_text, words));
}

/* ---- the launch ---- */

static const char *grid_text(const struct tile *t, const struct hone_cuda_launch *l)
{
    const char *rows = count_text(t, t->g.rows, l), *columns = count_text(t, t->g.columns, l);
    if (!rows || !columns)
        return NULL;
    return hone_pool_printf(t->pool, "(unsigned)((%s + %s - 1) / %s * ((%s + %s - 1) / %s))", rows,
                            t->bm, t->bm, columns, t->bn, t->bn);
}

static void name_things(struct tile *t, const struct hone_coder_input *in)
{
    t->moved = hone_fresh_name(in, "moved");
    t->held = hone_fresh_name(in, "held");
    t->fixed = hone_fresh_name(in, "fixed");
    t->u = hone_fresh_name(in, "u");
    t->entry = hone_fresh_name(in, "entry");
    t->at = hone_fresh_name(in, "at");
    for (size_t i = 0; i < t->g.digits.n; i++) {
        const struct hone_c_node *var = t->g.digits.v[i].var;
        t->digits[i] =
            var ? var->name : hone_fresh_name(in, hone_pool_printf(in->pool, "part_%zu", i));
    }
}

static char *apply(const struct hone_coder_input *in, const struct hone_coder_site *site,
                   struct hone_err *err)
{
    struct tile t = {.k = hone_cuda_kernel_at(in, site->node), .pool = in->pool};
    if (!t.k || !hone_cuda_read_gather(t.k, &t.g)) {
        hone_fail(err, HONE_E_ARG, "the region is no sum of gathered factors");
        return NULL;
    }
    name_things(&t, in);
    bool is_wide = strcmp(t.g.acc->type, "double") == 0; /* 48 KiB of static shared memory */
    const char *resident;
    const struct {
        const char **name, *stem, *values;
    } tunables[] = {{&t.bm, "BM", "64, 128, 96, 32"},
                    {&t.bn, "BN", "128, 64"},
                    {&t.bk, "BK", is_wide ? "8, 4" : "8, 16"},
                    {&t.tm, "TM", "8, 4"},
                    {&t.tn, "TN", "8, 4"},
                    {&resident, "RESIDENT", "512, 384"}}; /* threads of a multiprocessor */
    const char *pragmas = "";
    for (size_t i = 0; i < HONE_COUNTOF(tunables); i++)
        pragmas = hone_pool_printf(
            in->pool, "%s%s", pragmas,
            hone_cuda_tunable(in, tunables[i].stem, tunables[i].values, tunables[i].name));
    const char *body = make_body(&t);
    const char *threads = hone_pool_printf(in->pool, "%s / %s * (%s / %s)", t.bm, t.tm, t.bn, t.tn);
    struct hone_c_edits edits;
    hone_c_edits_init(&edits, in->tree);
    for (size_t i = 0; body && i < t.k->n_launches; i++) {
        const char *grid = grid_text(&t, &t.k->launches[i]);
        if (grid)
            hone_cuda_set_launch(&edits, &t.k->launches[i], grid, threads, "0");
        body = grid ? body : NULL;
    }
    if (!body) {
        hone_fail(err, HONE_E_ARG, "a size or a guard is made of too much");
        return NULL;
    }
    const char *bounds = is_wide ? threads
                                 : hone_pool_printf(in->pool, "%s, %s * %s > 32 ? %s / (%s) : 1",
                                                    threads, t.tm, t.tn, resident, threads);
    hone_cuda_put_helpers(&edits, hone_cuda_vector_helper(in));
    hone_cuda_replace_kernel(&edits, t.k, pragmas, hone_cuda_header(t.k, bounds, ""), body);
    hone_cuda_drop_unused(&edits, t.k);
    return hone_cuda_finish(&edits);
}

const struct hone_rewrite hone_rewrite_cuda_gather_tile = {
    .name = "cuda_gather_tile",
    .target = "cuda",
    .strategy = "G05",
    .words = "gathered factors by shared-memory tiles and register micro-tiles",
    .form = HONE_REWRITE_NORMAL,
    .sites = sites,
    .apply = apply,
};
