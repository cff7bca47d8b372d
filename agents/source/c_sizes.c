/* SPDX-License-Identifier: Apache-2.0 */
/* Subscripts in the task's public sizes (c_sizes.h).
 *
 * Flow: for each size the two subscripts become sums of counters times numbers (take_apart), and
 * their difference a sum of strides with ranges (read_difference); is_apart looks whether that can
 * be zero in two iterations.
 *
 * What an inner counter goes through is read in two ways, and one that shows them apart is enough:
 * from the least that it starts with to the most that it ends with, or, where it starts at another
 * counter (tiles, bands, triangles), as that counter and what is added to it (opened).
 *
 * Limits: a condition around an access is not read; products of two counters are not. */
#include "agents/source/c_sizes.h"

#include <stdlib.h>
#include <string.h>

#include "tools/format/options.h"
#include "workspace/task/task.h"

enum { MAX_FOLLOW = 12, MAX_GROUPS = 2 * HONE_C_MAX_TERMS };
static const int64_t most_number = (int64_t)1 << 56; /* sums of some dozens stay below 2^63 */

struct span {
    int64_t least, most;
    bool is_known;
};

struct scene { /* one loop in one size */
    const struct hone_c_nest *nest;
    const struct hone_c_loop *loop;
    size_t size;
    bool is_opened;
};

/* ---- names ---- */

static bool is_whole(const struct hone_scalar *scalar)
{
    return scalar->dtype == HONE_DTYPE_I32 || scalar->dtype == HONE_DTYPE_I64;
}

/* False: the task has none of that name. */
static bool read_values(const struct hone_task *task, const char *name, int64_t *ret)
{
    bool is_found = false;
    for (size_t i = 0; i < task->n_axes; i++)
        for (size_t w = 0; strcmp(task->axes[i].name, name) == 0 && w < task->n_workloads; w++)
            is_found = true, ret[w] = task->workloads[w].axes[i];
    for (size_t i = 0; i < task->n_scalars && !is_found; i++)
        for (size_t w = 0; strcmp(task->scalars[i].name, name) == 0 &&
                           is_whole(&task->scalars[i]) && w < task->n_workloads;
             w++)
            is_found = true, ret[w] = (int64_t)task->scalars[i].value;
    return is_found;
}

static size_t n_params(const struct hone_c_node *function)
{
    size_t n = 0;
    for (const struct hone_c_node *p = function->first; p; p = p->next)
        n += p->kind == HONE_C_PARAM;
    return n;
}

const struct hone_c_sizes *hone_c_sizes_of(const struct hone_c_tree *tree,
                                           const struct hone_c_node *function,
                                           const struct hone_task *task)
{
    struct hone_array axes = {.n = 0};
    const char *where = NULL;
    if (!task || task->n_workloads == 0)
        return NULL;
    if (hone_tune_parse(tree->source, tree->pool, &axes, &where, NULL) < 0)
        axes.n = 0;
    struct hone_c_sizes *out = hone_pool_alloc(tree->pool, sizeof(*out));
    struct hone_c_size *v =
        hone_pool_alloc(tree->pool, (n_params(function) + axes.n + 1) * sizeof(*v));
    *out = (struct hone_c_sizes){.v = v, .n_sizes = task->n_workloads};
    int64_t *values = NULL;
    for (const struct hone_c_node *p = function->first; p; p = p->next) {
        if (p->kind != HONE_C_PARAM || strchr(p->type, '*') || hone_c_writes(function, p))
            continue;
        values = hone_pool_alloc(tree->pool, task->n_workloads * sizeof(*values));
        if (read_values(task, p->name, values))
            v[out->n++] = (struct hone_c_size){p, p->name, values};
    }
    for (size_t i = 0; i < axes.n; i++) {
        const struct hone_tune_axis *axis = (const struct hone_tune_axis *)axes.v + i;
        values = hone_pool_alloc(tree->pool, task->n_workloads * sizeof(*values));
        for (size_t w = 0; w < task->n_workloads; w++)
            values[w] = axis->values.n ? axis->values.v[0] : 1;
        v[out->n++] = (struct hone_c_size){NULL, axis->name, values};
    }
    return out;
}

/* ---- values of expressions ---- */

static struct span range(int64_t least, int64_t most)
{
    bool is_known = least > -most_number && most < most_number;
    return is_known ? (struct span){least, most, true} : (struct span){.is_known = false};
}

static bool is_point(const struct span *s)
{
    return s->is_known && s->least == s->most;
}

static struct span add(struct span a, struct span b, int sign)
{
    if (!a.is_known || !b.is_known)
        return (struct span){.is_known = false};
    return sign > 0 ? range(a.least + b.least, a.most + b.most)
                    : range(a.least - b.most, a.most - b.least);
}

/* op: '*', or '/' by what is positive */
static struct span combine(struct span a, struct span b, char op)
{
    int64_t least = INT64_MAX, most = INT64_MIN;
    if (!a.is_known || !b.is_known || (op == '/' && b.least < 1))
        return (struct span){.is_known = false};
    for (int i = 0; i < 4; i++) {
        int64_t x = i & 1 ? a.most : a.least, y = i & 2 ? b.most : b.least, r = 0;
        if (op == '*' && __builtin_mul_overflow(x, y, &r))
            return (struct span){.is_known = false};
        r = op == '*' ? r : x / y;
        least = r < least ? r : least;
        most = r > most ? r : most;
    }
    return range(least, most);
}

static struct span scaled(struct span x, int64_t by)
{
    return combine(x, range(by, by), '*');
}

static struct span remainder_of(struct span a, struct span b)
{
    if (!a.is_known || !b.is_known || a.least < 0 || b.least < 1)
        return (struct span){.is_known = false};
    if (is_point(&a) && is_point(&b))
        return range(a.least % b.least, a.least % b.least);
    return range(0, a.most < b.most - 1 ? a.most : b.most - 1);
}

/* NULL: there is none, or several loops count with it. */
static const struct hone_c_loop *loop_of(const struct scene *s, const struct hone_c_node *var)
{
    const struct hone_c_loop *out = NULL;
    for (size_t l = 0; var && l < s->nest->n; l++) {
        if (s->nest->loops[l].var != var)
            continue;
        if (out)
            return NULL;
        out = &s->nest->loops[l];
    }
    return out && (out->is_canonical || out->counts_down) ? out : NULL;
}

/* A whole number that is set once. */
static bool is_fixed(const struct scene *s, const struct hone_c_node *d)
{
    return d && d->kind == HONE_C_VAR && d->last && !strpbrk(d->type, "*[") &&
           (strstr(d->type, "int") || strstr(d->type, "long")) &&
           !hone_c_writes(s->nest->function, d);
}

static bool is_same_text(const struct scene *s, const struct hone_c_node *a,
                         const struct hone_c_node *b)
{
    const char *text = s->nest->tree->source;
    return a->end - a->begin == b->end - b->begin &&
           memcmp(text + a->begin, text + b->begin, a->end - a->begin) == 0;
}

/* The two that a choice takes the less (is_max: the more) of; NULL in *ret_a: it is none. */
static void read_choice(const struct scene *s, const struct hone_c_node *expr, bool is_max,
                        const struct hone_c_node **ret_a, const struct hone_c_node **ret_b)
{
    *ret_a = *ret_b = NULL;
    expr = hone_c_strip(expr);
    for (int i = 0; i < MAX_FOLLOW && expr && expr->kind == HONE_C_REF && is_fixed(s, expr->decl);
         i++)
        expr = hone_c_strip(expr->decl->last);
    if (!expr || expr->kind != HONE_C_CONDITIONAL || hone_c_n_children(expr) != 3)
        return;
    const struct hone_c_node *c = hone_c_strip(expr->first),
                             *yes = hone_c_strip(hone_c_child(expr, 1)),
                             *no = hone_c_strip(hone_c_child(expr, 2));
    if (c->kind != HONE_C_BINARY || (c->op[0] != '<' && c->op[0] != '>') ||
        (c->op[1] != '\0' && c->op[1] != '='))
        return;
    const struct hone_c_node *left = hone_c_strip(c->first), *right = hone_c_strip(c->last);
    bool is_left = is_same_text(s, yes, left) && is_same_text(s, no, right);
    bool is_right = is_same_text(s, yes, right) && is_same_text(s, no, left);
    if ((is_left || is_right) && (is_left == (c->op[0] == '>')) == is_max)
        *ret_a = yes, *ret_b = no;
}

static struct span span_of(const struct scene *s, const struct hone_c_node *expr, int depth);

/* By name: at least 1. */
static int64_t step_of(const struct scene *s, const struct hone_c_loop *l, int depth)
{
    struct span step = {.is_known = false};
    if (!l->is_unit_step && l->is_canonical)
        step = span_of(s, l->node->inc->last, depth + 1);
    return is_point(&step) && step.least > 0 ? step.least : 1;
}

/* What a counter goes through; least > most: nothing. */
static struct span span_of_loop(const struct scene *s, const struct hone_c_loop *l, int depth)
{
    struct span lower = span_of(s, l->lower, depth + 1), upper = span_of(s, l->upper, depth + 1);
    if (!lower.is_known || !upper.is_known)
        return (struct span){.is_known = false};
    struct span out = range(lower.least + l->is_exclusive_below, upper.most - !l->is_inclusive);
    int64_t step = step_of(s, l, depth);
    if (is_point(&lower) && out.most > out.least)
        out.most = out.least + (out.most - out.least) / step * step;
    return out;
}

static struct span span_of_name(const struct scene *s, const struct hone_c_node *decl,
                                const char *name, int depth)
{
    const struct hone_c_sizes *sizes = s->nest->tree->sizes;
    for (size_t i = 0; sizes && i < sizes->n; i++)
        if (sizes->v[i].decl == decl && (decl || strcmp(sizes->v[i].name, name) == 0))
            return range(sizes->v[i].values[s->size], sizes->v[i].values[s->size]);
    const struct hone_c_loop *l = loop_of(s, decl);
    if (l)
        return span_of_loop(s, l, depth);
    if (is_fixed(s, decl))
        return span_of(s, decl->last, depth + 1);
    return (struct span){.is_known = false};
}

static struct span span_of_choice(const struct scene *s, const struct hone_c_node *expr, int depth)
{
    const struct hone_c_node *less[2], *more[2];
    read_choice(s, expr, false, &less[0], &less[1]);
    read_choice(s, expr, true, &more[0], &more[1]);
    struct span a = span_of(s, hone_c_child(expr, 1), depth + 1),
                b = span_of(s, hone_c_child(expr, 2), depth + 1);
    if (!a.is_known || !b.is_known)
        return (struct span){.is_known = false};
    bool is_less = a.least<b.least, is_more = a.most> b.most;
    return range(is_less == !more[0] ? a.least : b.least, is_more == !less[0] ? a.most : b.most);
}

static struct span span_of(const struct scene *s, const struct hone_c_node *expr, int depth)
{
    struct span zero = {0, 0, true}, unknown = {.is_known = false};
    struct hone_c_poly p;
    int64_t value = 0;
    if (!expr || depth > MAX_FOLLOW)
        return unknown;
    switch ((int)expr->kind) {
    case HONE_C_PAREN:
    case HONE_C_CAST:
        return strchr(expr->type, '*') || strstr(expr->type, "char") ||
                       strstr(expr->type, "short") || strstr(expr->type, "float") ||
                       strstr(expr->type, "double")
                   ? unknown
                   : span_of(s, expr->last, depth);
    case HONE_C_CONST:
        p = hone_c_poly_of(s->nest->function, expr);
        value = p.n ? p.terms[0].k : 0;
        return p.is_known ? range(value, value) : unknown;
    case HONE_C_REF:
        return span_of_name(s, expr->decl, expr->name, depth);
    case HONE_C_CONDITIONAL:
        return hone_c_n_children(expr) == 3 ? span_of_choice(s, expr, depth) : unknown;
    case HONE_C_UNARY:
        return strcmp(expr->op, "-") == 0 ? add(zero, span_of(s, expr->first, depth + 1), -1)
                                          : unknown;
    case HONE_C_BINARY:
        break;
    default:
        return unknown;
    }
    if (!expr->op[0] || expr->op[1] || !strchr("+-*/%", expr->op[0]))
        return unknown;
    struct span a = span_of(s, expr->first, depth + 1), b = span_of(s, expr->last, depth + 1);
    return expr->op[0] == '+'   ? add(a, b, 1)
           : expr->op[0] == '-' ? add(a, b, -1)
           : expr->op[0] == '%' ? remainder_of(a, b)
                                : combine(a, b, expr->op[0]);
}

static struct span span_of_poly(const struct scene *s, const struct hone_c_poly *p)
{
    struct span out = {0, 0, p->is_known};
    for (size_t i = 0; i < p->n; i++) {
        struct span term = range(p->terms[i].k, p->terms[i].k);
        for (size_t f = 0; f < p->terms[i].n_factors; f++)
            term = combine(
                term, span_of_name(s, p->terms[i].factors[f].decl, p->terms[i].factors[f].name, 0),
                '*');
        out = add(out, term, 1);
    }
    return out;
}

/* ---- counters that start at another one ---- */

static bool has_counter(const struct scene *s, const struct hone_c_poly *p)
{
    for (size_t i = 0; i < p->n; i++)
        for (size_t f = 0; f < p->terms[i].n_factors; f++)
            if (loop_of(s, p->terms[i].factors[f].decl))
                return true;
    return false;
}

/* A sum with a counter that the loop's own starts at or above. */
static bool read_start(const struct scene *s, const struct hone_c_loop *l, struct hone_c_poly *ret,
                       bool *ret_is_exact)
{
    const struct hone_c_node *arms[2];
    read_choice(s, l->lower, true, &arms[0], &arms[1]);
    *ret_is_exact = !arms[0];
    for (int i = 0; i < 2; i++) {
        const struct hone_c_node *expr = arms[i] ? arms[i] : l->lower;
        *ret = hone_c_poly_of(s->nest->function, expr);
        if (ret->is_known && has_counter(s, ret))
            return true;
    }
    return false;
}

/* From the start to the expression. */
static struct span width_to(const struct scene *s, const struct hone_c_node *expr,
                            const struct hone_c_poly *start, int depth)
{
    const struct hone_c_node *arms[2];
    read_choice(s, expr, false, &arms[0], &arms[1]);
    if (arms[0] && depth < MAX_FOLLOW) {
        struct span a = width_to(s, arms[0], start, depth + 1),
                    b = width_to(s, arms[1], start, depth + 1);
        if (!a.is_known || !b.is_known)
            return a.is_known ? a : b; /* at most that */
        return range(a.least < b.least ? a.least : b.least, a.most < b.most ? a.most : b.most);
    }
    struct hone_c_poly p = hone_c_poly_of(s->nest->function, expr);
    if (!p.is_known)
        return add(span_of(s, expr, 0), span_of_poly(s, start), -1);
    p = hone_c_poly_sum(&p, start, -1);
    return span_of_poly(s, &p);
}

/* Each counter inside of the loop that starts at another one, as that and what is added. */
static struct hone_c_poly opened(const struct scene *s, struct hone_c_poly p)
{
    for (size_t l = s->nest->n; l-- > 0;) {
        const struct hone_c_loop *inner = &s->nest->loops[l];
        struct hone_c_poly start, out = {.is_known = p.is_known};
        bool is_exact;
        if (!hone_c_contains(s->loop->node->body, inner->node) || loop_of(s, inner->var) != inner ||
            !read_start(s, inner, &start, &is_exact))
            continue;
        for (size_t i = 0; i < p.n; i++) {
            struct hone_c_poly term = {.is_known = true, .n = 1}, more;
            bool is_its = false;
            term.terms[0] = p.terms[i];
            out = hone_c_poly_sum(&out, &term, 1);
            for (size_t f = 0; f < term.terms[0].n_factors && !is_its; f++) {
                struct hone_c_term *t = &term.terms[0];
                is_its = t->factors[f].decl == inner->var;
                if (is_its)
                    t->factors[f] = t->factors[--t->n_factors];
            }
            more = hone_c_poly_product(&term, &start);
            if (is_its)
                out = hone_c_poly_sum(&out, &more, 1);
        }
        p = out;
    }
    return p;
}

/* ---- differences of two subscripts ---- */

struct digit { /* a counter is base + step * x */
    int64_t base, step;
    struct span x; /* least > most: no iteration */
};

static struct digit digit_of(const struct scene *s, const struct hone_c_loop *l)
{
    struct digit out = {0, 1, {0, 1, true}}; /* not known: two values */
    struct hone_c_poly start;
    bool is_exact = true;
    if (s->is_opened && read_start(s, l, &start, &is_exact)) {
        struct span width = width_to(s, l->upper, &start, 0);
        out.step = is_exact ? step_of(s, l, 0) : 1;
        int64_t last = width.most - !l->is_inclusive;
        if (width.is_known)
            out.x = range(0, last < 0 ? -1 : last / out.step);
        return out;
    }
    struct span lower = span_of(s, l->lower, 0), all = span_of_loop(s, l, 0);
    if (!all.is_known)
        return out;
    out.x = all;
    if (!is_point(&lower) || all.least > all.most)
        return out;
    out.base = all.least;
    out.step = step_of(s, l, 0);
    out.x = range(0, (all.most - all.least) / out.step);
    return out;
}

struct sum { /* a subscript */
    size_t n;
    const struct hone_c_loop *loops[HONE_C_MAX_TERMS];
    int64_t k[HONE_C_MAX_TERMS];
    struct hone_c_poly rest; /* without counters of the loop or in it */
};

/* False: a stride is not known. */
static bool take_apart(const struct scene *s, const struct hone_c_poly *p, struct sum *ret)
{
    *ret = (struct sum){.rest = {.is_known = p->is_known}};
    for (size_t i = 0; i < p->n; i++) {
        const struct hone_c_term *t = &p->terms[i];
        const struct hone_c_loop *counter = NULL;
        struct span k = range(t->k, t->k);
        bool is_free = true; /* of all that changes */
        for (size_t f = 0; f < t->n_factors; f++) {
            const struct hone_c_node *var = t->factors[f].decl;
            bool is_inside =
                var && (var == s->loop->var || hone_c_contains(s->loop->node->body, var));
            is_free = is_free && !is_inside;
            if (is_inside && !counter && (counter = loop_of(s, var)))
                continue;
            k = combine(k, span_of_name(s, var, t->factors[f].name, 0), '*');
        }
        if (is_free) {
            struct hone_c_poly term = {.is_known = true, .n = 1, .terms = {*t}};
            ret->rest = hone_c_poly_sum(&ret->rest, &term, 1);
            continue;
        }
        size_t at = 0;
        while (at < ret->n && ret->loops[at] != counter)
            at++;
        if (!counter || !is_point(&k))
            return false;
        ret->n += at == ret->n;
        ret->loops[at] = counter;
        ret->k[at] += k.least;
    }
    return ret->rest.is_known;
}

struct group { /* all with one stride */
    int64_t stride;
    struct span x;
};
struct difference {   /* of a in one iteration and b in another */
    struct group own; /* by how many iterations they are apart, at most */
    struct group groups[MAX_GROUPS];
    size_t n;
    int64_t constant;
    bool is_known, is_empty;
};

static void add_counter(struct difference *d, const struct digit *digit, int64_t k, int sign)
{
    struct span value = scaled(range(k, k), digit->step), x = digit->x;
    struct span base = scaled(range(k, k), digit->base), zero = {0, 0, true};
    d->is_known = d->is_known && value.is_known && base.is_known && x.is_known;
    d->is_empty = d->is_empty || (x.is_known && x.least > x.most);
    if (!d->is_known || d->is_empty)
        return;
    d->constant += sign * base.least;
    int64_t stride = llabs(value.least);
    x = (value.least < 0) == (sign < 0) ? x : add(zero, x, -1);
    size_t at = 0;
    while (at < d->n && d->groups[at].stride != stride)
        at++;
    if (at == d->n)
        d->groups[d->n++] = (struct group){stride, zero};
    d->groups[at].x = add(d->groups[at].x, x, 1);
}

static void add_sum(const struct scene *s, struct difference *d, const struct sum *sum, int sign)
{
    for (size_t i = 0; i < sum->n; i++) {
        struct digit digit = digit_of(s, sum->loops[i]);
        if (sum->loops[i] != s->loop && sum->k[i] != 0)
            add_counter(d, &digit, sum->k[i], sign);
    }
}

static int64_t own_of(const struct scene *s, const struct sum *sum)
{
    for (size_t i = 0; i < sum->n; i++)
        if (sum->loops[i] == s->loop)
            return sum->k[i];
    return 0;
}

static struct difference read_difference(const struct scene *s, const struct hone_c_poly *a,
                                         const struct hone_c_poly *b)
{
    struct difference d = {.is_known = false};
    struct hone_c_poly p = s->is_opened ? opened(s, *a) : *a, q = s->is_opened ? opened(s, *b) : *b;
    struct sum x, y;
    if (!take_apart(s, &p, &x) || !take_apart(s, &q, &y) || own_of(s, &x) != own_of(s, &y) ||
        !hone_c_poly_distance(&x.rest, &y.rest, &d.constant))
        return d;
    int64_t step = step_of(s, s->loop, 0);
    struct span all = span_of_loop(s, s->loop, 0),
                stride = scaled(range(own_of(s, &x), own_of(s, &x)), step);
    d.is_known = stride.is_known;
    d.own.stride = llabs(stride.least);
    d.own.x = all.is_known ? range(0, (all.most - all.least) / step) : range(0, 1);
    add_sum(s, &d, &x, 1);
    add_sum(s, &d, &y, -1);
    return d;
}

/* ---- is zero among them? ---- */

int64_t hone_common_divisor(int64_t a, int64_t b)
{
    while (b != 0) {
        int64_t next = a % b;
        a = b;
        b = next;
    }
    return a;
}

static int64_t farthest(struct span s)
{
    return llabs(s.least) > llabs(s.most) ? llabs(s.least) : llabs(s.most);
}

static int64_t quotient_down(int64_t a, int64_t b)
{
    return a / b - (a % b != 0 && a < 0);
}

/* Does the span hold n * stride, where n is not 0 and at most as far from it as `most`? */
static bool holds_multiple(struct span s, int64_t stride, int64_t most)
{
    int64_t first = -quotient_down(-s.least, stride), last = quotient_down(s.most, stride);
    first = first < -most ? -most : first;
    last = last > most ? most : last;
    return first <= last && !(first == 0 && last == 0);
}

static void sort_groups(struct difference *d)
{
    for (size_t i = 1; i < d->n; i++)
        for (size_t k = i; k > 0 && d->groups[k - 1].stride < d->groups[k].stride; k--) {
            struct group g = d->groups[k];
            d->groups[k] = d->groups[k - 1];
            d->groups[k - 1] = g;
        }
}

/* Is what the groups add up to nothing in each of them? The longest stride comes first: one that is
 * more than all below it can make up is not among what makes it up. below: of what has no group. */
static bool are_all_alike(const struct group *groups, size_t n, struct span below)
{
    for (size_t i = n; i-- > 0;) {
        if (!below.is_known || groups[i].stride <= farthest(below))
            return false;
        below = add(below, scaled(groups[i].x, groups[i].stride), 1);
    }
    return true;
}

/* Strides above the loop's own (high) are rows: where both iterations are of one row, only the own
 * stride and what lies below that can be the difference. */
static bool is_apart(struct difference *d)
{
    struct span low = range(d->constant, d->constant);
    struct span own = scaled(range(-d->own.x.most, d->own.x.most), d->own.stride);
    size_t n_high = 0;
    int64_t divisor = 0;
    sort_groups(d);
    for (size_t i = 0; i < d->n; i++) {
        struct group g = d->groups[i];
        if (g.stride > d->own.stride && (g.x.least != 0 || g.x.most != 0)) {
            d->groups[n_high++] = g;
            divisor = hone_common_divisor(g.stride, divisor);
        } else {
            low = add(low, scaled(g.x, g.stride), 1);
        }
    }
    struct span below = add(own, low, 1);
    if (!below.is_known || d->own.stride == 0)
        return false;
    if (n_high == 0 || divisor > farthest(below) || are_all_alike(d->groups, n_high, below))
        return !holds_multiple(low, d->own.stride, d->own.x.most);
    bool holds_zero = low.least <= 0 && low.most >= 0;
    return !holds_zero &&
           !holds_multiple(low, hone_common_divisor(d->own.stride, divisor), INT64_MAX);
}

enum answer { NOT_KNOWN, APART, MEETING };

static enum answer answer_of(const struct scene *s, const struct hone_c_poly *a,
                             const struct hone_c_poly *b)
{
    struct difference d = read_difference(s, a, b);
    return !d.is_known ? NOT_KNOWN : d.is_empty || is_apart(&d) ? APART : MEETING;
}

bool hone_c_may_meet(const struct hone_c_nest *nest, const struct hone_c_poly *a,
                     const struct hone_c_poly *b, const struct hone_c_loop *loop)
{
    size_t n = nest->tree->sizes ? nest->tree->sizes->n_sizes : 1;
    for (size_t i = 0; i < n; i++) {
        struct scene s = {.nest = nest, .loop = loop, .size = i};
        enum answer plain = answer_of(&s, a, b);
        if (plain == APART)
            continue;
        s.is_opened = true;
        enum answer opened = answer_of(&s, a, b);
        if (opened != APART && (plain == MEETING || opened == MEETING))
            return true;
    }
    return false;
}
