/* SPDX-License-Identifier: Apache-2.0 */
/* Do iterations stay apart? (c_slice.h)
 *
 * Two subscripts are compared term by term: what only one of them has must be a constant or a
 * counter of an inner loop (is_rest_alike). The loop's own term then says which arithmetic holds: a
 * number (is_apart_by_number) or a row's length (is_apart_by_row). What both take for granted of
 * rows is held to the task's public sizes (c_sizes.h). */
#include "agents/source/c_slice.h"
#include "agents/source/c_sizes.h"

#include <stdlib.h>
#include <string.h>

struct range { /* of what a subscript adds to the loop's own part */
    int64_t least, most;
    bool is_known;
};

struct rows {        /* that a subscript starts with, as the loop sees it */
    bool has_name;   /* of one's length */
    int64_t divisor; /* of the lengths that are numbers; 0: there are none */
};

static const struct hone_c_loop *loop_of_var(const struct hone_c_nest *nest,
                                             const struct hone_c_node *var)
{
    for (size_t l = 0; l < nest->n; l++)
        if (nest->loops[l].var == var)
            return &nest->loops[l];
    return NULL;
}

static bool is_of_body(const struct hone_c_term *t, const struct hone_c_loop *loop)
{
    for (size_t f = 0; f < t->n_factors; f++)
        if (t->factors[f].decl && hone_c_contains(loop->node->body, t->factors[f].decl))
            return true;
    return false;
}

static bool is_inner(const struct hone_c_term *t, const struct hone_c_loop *loop)
{
    return t->n_factors == 1 && is_of_body(t, loop);
}

/* i * R + v * R, where i takes steps of S and v counts from 0 to S: v stays inside of the step. */
static bool is_within_step(const struct hone_c_nest *nest, const struct hone_c_poly *poly,
                           const struct hone_c_term *t, const struct hone_c_loop *loop)
{
    for (size_t l = 0; l < nest->n; l++) {
        const struct hone_c_loop *v = &nest->loops[l];
        if (!v->is_canonical || !v->is_unit_step || v->is_inclusive || !v->is_small ||
            !hone_c_contains(loop->node->body, v->node) ||
            strcmp(hone_c_text(nest->tree, v->upper), loop->step) != 0 ||
            strcmp(hone_c_text(nest->tree, v->lower), "0") != 0)
            continue;
        struct hone_c_term step = *t;
        bool has_counter = false;
        for (size_t f = 0; f < step.n_factors; f++)
            if (step.factors[f].decl == v->var) {
                step.factors[f] = (struct hone_c_factor){loop->var, loop->var->name};
                has_counter = true;
            }
        for (size_t i = 0; has_counter && i < poly->n; i++)
            if (poly->terms[i].k == step.k && hone_c_same_factors(&poly->terms[i], &step))
                return true;
    }
    return false;
}

static bool has_term(const struct hone_c_poly *p, const struct hone_c_term *t)
{
    for (size_t i = 0; i < p->n; i++)
        if (p->terms[i].k == t->k && hone_c_same_factors(&p->terms[i], t))
            return true;
    return false;
}

/* All but constants and counters of inner loops stands in both. */
static bool is_rest_alike(const struct hone_c_nest *nest, const struct hone_c_poly *a,
                          const struct hone_c_poly *b, const struct hone_c_loop *loop)
{
    for (size_t i = 0; i < a->n; i++) {
        const struct hone_c_term *t = &a->terms[i];
        if (!has_term(b, t) && t->n_factors > 0 && !is_inner(t, loop) &&
            !is_within_step(nest, a, t, loop))
            return false;
    }
    return true;
}

/* The term with the loop's counter; NULL: there are several. */
static const struct hone_c_term *own_term(const struct hone_c_poly *p,
                                          const struct hone_c_loop *loop)
{
    const struct hone_c_term *own = NULL;
    for (size_t i = 0; i < p->n; i++)
        for (size_t f = 0; f < p->terms[i].n_factors; f++) {
            if (p->terms[i].factors[f].decl != loop->var)
                continue;
            if (own)
                return NULL;
            own = &p->terms[i];
        }
    return own;
}

/* What a counter goes through, where both ends are numbers. */
static struct range counter_range(const struct hone_c_nest *nest, const struct hone_c_node *var)
{
    const struct hone_c_loop *l = loop_of_var(nest, var);
    struct range out = {0};
    if (!l || !l->lower || !l->upper || !(l->is_canonical || l->counts_down))
        return out;
    struct hone_c_poly lower = hone_c_poly_of(nest->function, l->lower),
                       upper = hone_c_poly_of(nest->function, l->upper);
    out.is_known =
        hone_c_poly_is_number(&lower, &out.least) && hone_c_poly_is_number(&upper, &out.most);
    out.most -= l->is_inclusive || l->counts_down ? 0 : 1;
    return out;
}

static int64_t constant_of(const struct hone_c_poly *p)
{
    for (size_t i = 0; i < p->n; i++)
        if (p->terms[i].n_factors == 0)
            return p->terms[i].k;
    return 0;
}

/* A row's start, as the loop sees it: what it adds is a multiple of more than the loop's counter
 * goes through (span; negative: not known). Of one whose length is a name that is taken for granted.
 */
static bool is_row_start(const struct hone_c_term *t, const struct hone_c_loop *loop, int64_t span)
{
    return !is_of_body(t, loop) || t->n_factors > 1 || (span >= 0 && llabs(t->k) > span);
}

static void note_row(const struct hone_c_term *t, const struct hone_c_loop *loop, struct rows *rows)
{
    if (!is_of_body(t, loop))
        return; /* of all iterations */
    rows->has_name = rows->has_name || t->n_factors > 1;
    if (t->n_factors == 1)
        rows->divisor = hone_common_divisor(llabs(t->k), rows->divisor);
}

/* Of constants and inner counters. */
static struct range rest_of(const struct hone_c_nest *nest, const struct hone_c_poly *p,
                            const struct hone_c_loop *loop, int64_t span, struct rows *rows)
{
    struct range out = {.is_known = true};
    bool is_named = loop->step[0] < '0' || loop->step[0] > '9'; /* else its counter has a range */
    for (size_t i = 0; i < p->n && out.is_known; i++) {
        const struct hone_c_term *t = &p->terms[i];
        struct range counter = {1, 1, true};
        if (t->n_factors > 0 && is_named && is_within_step(nest, p, t, loop))
            continue;
        if (t->n_factors > 0 && is_row_start(t, loop, span)) {
            note_row(t, loop, rows);
            continue;
        }
        if (t->n_factors > 0)
            counter = counter_range(nest, t->factors[0].decl);
        out.is_known = counter.is_known;
        out.least += t->k * (t->k < 0 ? counter.most : counter.least);
        out.most += t->k * (t->k < 0 ? counter.least : counter.most);
    }
    return out;
}

/* Are rows longer than the loop's counter and the rest reach? Of numbers that is seen here. */
static bool are_rows_granted(const struct rows *rows, const struct range *x, const struct range *y,
                             int64_t span)
{
    int64_t up = llabs(x->most - y->least), down = llabs(y->most - x->least);
    return rows->has_name || (rows->divisor > 0 && rows->divisor <= span + (up > down ? up : down));
}

/* k * v + rest, v in steps: rests that lie nearer to each other than a step, or apart by what is no
 * multiple of one, are never the same element of two iterations. */
static bool is_apart_by_number(const struct hone_c_nest *nest, const struct hone_c_poly *a,
                               const struct hone_c_poly *b, const struct hone_c_loop *loop,
                               int64_t k, bool *ret_is_granted)
{
    struct rows rows = {.divisor = 0};
    struct range own = counter_range(nest, loop->var);
    int64_t span = own.is_known
                       ? llabs(k) * (own.most - own.least) + llabs(constant_of(a) - constant_of(b))
                       : -1;
    struct range x = rest_of(nest, a, loop, span, &rows), y = rest_of(nest, b, loop, span, &rows);
    char *end = NULL;
    int64_t step = strtoll(loop->step, &end, 10);
    step = *end == '\0' && step > 0 ? step : 1; /* by name: at least 1 */
    int64_t stride = llabs(k) * step;
    if (!x.is_known || !y.is_known)
        return false;
    *ret_is_granted = are_rows_granted(&rows, &x, &y, span);
    if (x.most - y.least < stride && y.most - x.least < stride)
        return true;
    return x.least == x.most && y.least == y.most && (x.least - y.least) % stride != 0;
}

/* By how much an iteration moves the subscript, and false where that is another amount for each. */
static bool read_row(const struct hone_c_poly *p, const struct hone_c_loop *loop,
                     struct hone_c_poly *ret)
{
    char *end = NULL;
    struct hone_c_poly step = {.is_known = true, .n = 1};
    step.terms[0].k = strtoll(loop->step, &end, 10);
    if (end == loop->step) /* a tunable; else it is like no name of a bound */
        step.terms[0] = (struct hone_c_term){1, 1, {{NULL, loop->step}}};
    else
        step.is_known = *end == '\0';
    *ret = (struct hone_c_poly){.is_known = true};
    for (size_t i = 0; i < p->n; i++) {
        struct hone_c_poly own = {.is_known = true, .n = 1};
        size_t n = 0;
        own.terms[0].k = p->terms[i].k;
        for (size_t f = 0; f < p->terms[i].n_factors; f++)
            if (p->terms[i].factors[f].decl != loop->var || n++ > 0)
                own.terms[0].factors[own.terms[0].n_factors++] = p->terms[i].factors[f];
        if (n > 1)
            return false;
        if (n == 1)
            *ret = hone_c_poly_sum(ret, &own, 1);
    }
    *ret = hone_c_poly_product(ret, &step);
    return true;
}

struct ends { /* of what a subscript adds to the row's start */
    struct hone_c_poly least, most;
    bool is_moved; /* by something that no iteration changes, which is left out */
};

static void add_ends(const struct hone_c_nest *nest, const struct hone_c_term *t,
                     const struct hone_c_loop *loop, struct ends *ret)
{
    struct hone_c_poly own = {.is_known = true, .n = 1}, one = {.is_known = true, .n = 1};
    const struct hone_c_loop *l = NULL;
    one.terms[0].k = 1;
    own.terms[0].k = t->k;
    for (size_t f = 0; f < t->n_factors; f++) {
        const struct hone_c_node *var = t->factors[f].decl;
        if (l || !var || !hone_c_contains(loop->node->body, var))
            own.terms[0].factors[own.terms[0].n_factors++] = t->factors[f];
        else if (!(l = loop_of_var(nest, var)) || !(l->is_canonical || l->counts_down))
            l = NULL, own.is_known = false;
    }
    struct hone_c_poly lower = own, upper = own;
    if (l) {
        lower = hone_c_poly_of(nest->function, l->lower);
        upper = hone_c_poly_of(nest->function, l->upper);
        if (!l->is_inclusive)
            upper = hone_c_poly_sum(&upper, &one, -1);
        lower = hone_c_poly_product(&own, &lower);
        upper = hone_c_poly_product(&own, &upper);
    }
    ret->least = hone_c_poly_sum(&ret->least, t->k < 0 ? &upper : &lower, 1);
    ret->most = hone_c_poly_sum(&ret->most, t->k < 0 ? &lower : &upper, 1);
}

static struct ends ends_of(const struct hone_c_nest *nest, const struct hone_c_poly *p,
                           const struct hone_c_loop *loop)
{
    struct ends out = {.least = {.is_known = true}, .most = {.is_known = true}};
    for (size_t i = 0; i < p->n; i++) {
        const struct hone_c_term *t = &p->terms[i];
        bool is_own = false;
        for (size_t f = 0; f < t->n_factors; f++)
            is_own = is_own || t->factors[f].decl == loop->var;
        if (t->n_factors == 0 || is_of_body(t, loop))
            add_ends(nest, t, loop, &out);
        else if (!is_own)
            out.is_moved = true;
    }
    return out;
}

/* From the least of the one to the most of the other is less than a row, as far as bounds say so:
 * where they are no fixed distance from its length, a row is taken for as long as it looks. */
static bool is_in_row(const struct ends *low, const struct ends *high,
                      const struct hone_c_poly *row, bool *ret_is_granted)
{
    struct hone_c_poly width = hone_c_poly_sum(&high->most, &low->least, -1);
    int64_t d = 0, least = 0;
    struct hone_c_poly rest = hone_c_poly_sum(&width, row, -1);
    bool is_less = !rest.is_known; /* or by a name: then it may be */
    for (size_t i = 0; i < rest.n; i++)
        is_less = is_less || (rest.terms[i].n_factors > 0 && rest.terms[i].k < 0);
    if (hone_c_poly_distance(&width, row, &d))
        return d < 0;
    if (!is_less)
        return false;
    *ret_is_granted = true;
    if (low->is_moved || high->is_moved)
        return true;
    return (!hone_c_poly_is_number(&low->least, &least) || least >= 0) &&
           (!hone_c_poly_distance(&high->most, row, &d) || d < 0);
}

static bool is_apart_by_row(const struct hone_c_nest *nest, const struct hone_c_poly *a,
                            const struct hone_c_poly *b, const struct hone_c_loop *loop,
                            bool *ret_is_granted)
{
    struct hone_c_poly row, zero = {.is_known = true};
    struct ends x = ends_of(nest, a, loop), y = ends_of(nest, b, loop);
    if (!read_row(a, loop, &row))
        return false;
    if (row.n > 0 && row.terms[0].k < 0) /* rows may count down */
        row = hone_c_poly_sum(&zero, &row, -1);
    return is_in_row(&x, &y, &row, ret_is_granted) && is_in_row(&y, &x, &row, ret_is_granted);
}

bool hone_c_is_same_slice(const struct hone_c_nest *nest, const struct hone_c_poly *a,
                          const struct hone_c_poly *b, const struct hone_c_loop *loop)
{
    if (!is_rest_alike(nest, a, b, loop) || !is_rest_alike(nest, b, a, loop))
        return false;
    const struct hone_c_term *own = own_term(a, loop);
    bool is_granted = false;
    bool is_apart = own && own->n_factors == 1
                        ? is_apart_by_number(nest, a, b, loop, own->k, &is_granted)
                        : is_apart_by_row(nest, a, b, loop, &is_granted);
    return is_apart && !(is_granted && hone_c_may_meet(nest, a, b, loop));
}
