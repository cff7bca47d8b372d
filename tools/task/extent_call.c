/* SPDX-License-Identifier: Apache-2.0 */
/* What a part of an expression may come to that is more than names and signs.
 *
 * Calls and choices (C ? A : B): smallest, largest, and values that are kept inside of borders,
 * written out or in a helper of the source. Elements of integer arrays: indexes, and offsets where
 * rows begin. The largest value of an array is a name of its own, and so is the length of its
 * longest row, ptr[r + 1] - ptr[r]; what those are as sizes a caller says
 * (hone_extent_bounded). At the end: what conditions around and before a place say of a name
 * (hone_extent_narrow). */
#include "tools/task/extent_internal.h"

#include <string.h>

struct part { /* tokens first..end-1 */
    size_t first, end;
};

static bool is_same(const struct hone_extent_scope *s, struct part a, struct part b)
{
    size_t n = a.end - a.first, i = 0;
    while (i < n &&
           hone_extent_same(hone_extent_at(s, a.first + i), hone_extent_at(s, b.first + i)))
        i++;
    return n > 0 && n == b.end - b.first && i == n;
}

static void widen(struct hone_extent_values *all, const struct hone_extent_values *e)
{
    if (all->hi.is_known && all->lo.is_known)
        hone_extent_widen(all, e, false);
    else
        *all = (struct hone_extent_values){.lo = {.is_known = false}};
}

static struct hone_extent_values least(const struct hone_extent_values *a,
                                       const struct hone_extent_values *b)
{
    bool is_second = !a->hi.is_known || (b->hi.is_known && hone_poly_covers(&a->hi, &b->hi));
    return is_second ? *b : *a;
}

/* ---- C ? A : B ---- */

/* The < or > of a comparison, outside of brackets; end: it is none. */
static size_t comparison(const struct hone_extent_scope *s, struct part *condition)
{
    while (hone_extent_is(s, condition->first, "(") &&
           hone_c_closing(&s->x->t, condition->first) + 1 == condition->end) {
        condition->first++;
        condition->end--;
    }
    size_t found = condition->end;
    for (size_t i = condition->first; i < condition->end; i++) {
        if (hone_extent_is(s, i, "(") || hone_extent_is(s, i, "["))
            i = hone_c_closing(&s->x->t, i);
        else if (hone_extent_is(s, i, "&") || hone_extent_is(s, i, "|"))
            return condition->end;
        else if (hone_extent_is(s, i, "<") || hone_extent_is(s, i, ">"))
            found = found == condition->end ? i : condition->end;
    }
    return found;
}

struct hone_extent_values hone_extent_of_choice(const struct hone_extent_scope *s, size_t first,
                                                size_t mark, size_t colon, size_t end, size_t pos)
{
    struct part condition = {first, mark};
    size_t at = comparison(s, &condition);
    bool is_below = hone_extent_is(s, at, "<") && at < condition.end;
    bool is_above = hone_extent_is(s, at, ">") && at < condition.end;
    const struct part left = {condition.first, at}, then = {mark + 1, colon},
                      right = {at + 1 + hone_extent_is(s, at + 1, "="), condition.end};
    struct hone_extent_values a = hone_extent_evaluate(s, mark + 1, colon, pos),
                              b = hone_extent_evaluate(s, colon + 1, end, pos);
    if (is_below && is_same(s, then, left)) /* A < B ? A : B */
        return least(&a, &b);
    if (is_above && is_same(s, then, right)) /* A > B ? B : A, where A may be kept up too */
        return (struct hone_extent_values){b.lo, least(&a, &b).hi};
    struct hone_extent_values all = a;
    widen(&all, &b);
    if (is_below && is_same(s, then, right)) /* A < B ? B : A, where A may be kept down too */
        all.lo = a.lo;
    return all;
}

/* ---- calls ---- */

static bool has_letters(const struct hone_extent_scope *s, size_t name, const char *letters)
{
    const struct hone_c_token *t = hone_extent_at(s, name);
    return strcasestr(hone_pool_strndup(s->x->pool, t->at, t->len), letters) != NULL;
}

/* All that a helper returns. */
static struct hone_extent_values returned(const struct hone_extent_scope *s)
{
    struct hone_extent_values all = {.lo = {.is_known = false}};
    size_t n = 0;
    for (size_t i = s->d->close + 1; i < s->d->end; i++) {
        size_t end = i + 1;
        if (!hone_extent_is(s, i, "return"))
            continue;
        while (end < s->d->end && !hone_extent_is(s, end, ";"))
            end++;
        struct hone_extent_values e = hone_extent_evaluate(s, i + 1, end, i);
        if (n++ == 0)
            all = e;
        else
            widen(&all, &e);
    }
    return all;
}

struct hone_extent_values hone_extent_of_call(const struct hone_extent_scope *s, size_t name,
                                              size_t pos)
{
    struct hone_extent_values all = {.lo = {.is_known = false}}, pair[2];
    struct hone_c_definition d = {.end = s->x->t.n};
    size_t args[2 * HONE_EXTENT_ARGS], n;
    bool is_own = hone_extent_callee(s, name + 1, &d, args, &n);
    bool is_max = n == 2 && has_letters(s, name, "max"),
         is_min = n == 2 && has_letters(s, name, "min");
    for (size_t i = 0; i < 2 && (is_max || is_min); i++)
        pair[i] = hone_extent_evaluate(s, args[2 * i], args[2 * i + 1], pos);
    if (is_max) {
        all = pair[0];
        widen(&all, &pair[1]);
        return all;
    }
    if (is_min)
        return least(&pair[0], &pair[1]);
    if (s->n_calls == HONE_EXTENT_CALLS || !is_own)
        return all;
    const struct hone_extent_scope callee = {s->x, &d, s, args, n, name, s->n_calls + 1};
    return returned(&callee);
}

/* ---- elements of arrays ---- */

static const struct hone_param *array_of(const struct hone_extent_scope *s, size_t i, int depth);

/* The array that all values of a local pointer are in: c = columns + begin. */
static const struct hone_param *array_of_local(const struct hone_extent_scope *s, size_t name,
                                               int depth)
{
    const struct hone_param *all = NULL;
    for (size_t i = s->d->close + 1; i + 2 < s->d->end; i++) {
        if (!hone_extent_same(hone_extent_at(s, i), hone_extent_at(s, name)) ||
            !hone_extent_is(s, i + 1, "=") || hone_extent_is(s, i + 2, "="))
            continue;
        const struct hone_param *one =
            array_of(s, i + 2 + hone_extent_is(s, i + 2, "&"), depth + 1);
        if (!one || (all && all != one))
            return NULL;
        all = one;
    }
    return all;
}

/* The chosen function's array that the word at token i is, or points into. */
static const struct hone_param *array_of(const struct hone_extent_scope *s, size_t i, int depth)
{
    int argument = hone_extent_argument(s, i);
    const struct hone_param *param = hone_extent_param(s, i);
    if (depth > HONE_EXTENT_CALLS || !hone_c_is_word(hone_extent_at(s, i)))
        return NULL;
    if (argument >= 0) {
        size_t first = s->args[2 * argument];
        param = array_of(s->caller, first + hone_extent_is(s, first, "&"), depth + 1);
    } else if (!param) {
        param = array_of_local(s, i, depth);
    }
    return param && param->is_pointer ? param : NULL;
}

struct hone_extent_values hone_extent_content(const struct hone_extent_scope *s, size_t i)
{
    const struct hone_param *param = array_of(s, i, 0);
    const struct hone_extent_values unknown = {.lo = {.is_known = false}};
    if (!param || hone_dtype_is_float(param->dtype))
        return unknown;
    if (param->dtype == HONE_DTYPE_U8 || param->dtype == HONE_DTYPE_U16)
        return (struct hone_extent_values){
            hone_poly_number(0), hone_poly_number(param->dtype == HONE_DTYPE_U8 ? 255 : 65535)};
    int name =
        hone_dtype_bytes(param->dtype) < 4 ? -1 : hone_extent_find(s->x, param->name, param, true);
    if (name < 0)
        return unknown;
    return (struct hone_extent_values){hone_poly_number(0), hone_poly_name(name)};
}

/* ---- rows of a sparse matrix ---- */

bool hone_extent_row_length(const struct hone_extent_scope *s, size_t *i, size_t end,
                            struct hone_extent_values *ret)
{
    const struct hone_param *param = NULL;
    size_t open = *i + 1, close, second, last;
    if (!hone_c_is_word(hone_extent_at(s, *i)) || !hone_extent_is(s, open, "["))
        return false;
    close = hone_c_closing(&s->x->t, open);
    second = close + 2;
    last = second + 1 < end ? hone_c_closing(&s->x->t, second + 1) : end;
    if (last >= end || !hone_extent_is(s, close + 1, "-") || !hone_extent_is(s, second + 1, "[") ||
        !hone_extent_same(hone_extent_at(s, *i), hone_extent_at(s, second)) ||
        close - open != last - second + 1 || !hone_extent_is(s, close - 2, "+") ||
        !hone_extent_is(s, close - 1, "1") || (last + 1 < end && !hone_extent_is_sign(s, last + 1)))
        return false;
    for (size_t k = 1; second + 1 + k < last; k++)
        if (!hone_extent_same(hone_extent_at(s, open + k), hone_extent_at(s, second + 1 + k)))
            return false;
    param = array_of(s, *i, 0);
    if (!param || hone_dtype_is_float(param->dtype) || hone_dtype_bytes(param->dtype) < 4)
        return false;
    int name =
        hone_extent_find(s->x, hone_pool_printf(s->x->pool, "%s length", param->name), param, true);
    if (name < 0)
        return false;
    s->x->names[name].is_length = true;
    *i = last + 1;
    *ret = (struct hone_extent_values){hone_poly_number(0), hone_poly_name(name)};
    return true;
}

/* The term with the array's largest value in place of its longest row. */
static struct hone_term without_length(struct hone_extent *x, const struct hone_term *term,
                                       bool *ret_had)
{
    struct hone_term plain = *term;
    *ret_had = false;
    for (int k = 0; k < plain.degree; k++) {
        const struct hone_extent_name *name = &x->names[plain.names[k]];
        if (!name->is_length)
            continue;
        int most = hone_extent_find(x, name->param->name, name->param, true);
        *ret_had = true;
        plain.names[k] = most < 0 ? plain.names[k] : most;
    }
    return plain;
}

struct hone_poly hone_extent_join_lengths(struct hone_extent *x, const struct hone_poly *p)
{
    struct hone_poly all = hone_poly_number(0);
    for (size_t i = 0; p->is_known && i < p->n; i++) {
        bool had, had_other;
        struct hone_poly one = {.is_known = true, .n = 1}, most = one, none = one;
        one.terms[0] = most.terms[0] = none.terms[0] = without_length(x, &p->terms[i], &had);
        bool is_lesser = false; /* of two terms that come to the same */
        for (size_t k = 0; k < p->n; k++) {
            most.terms[0] = without_length(x, &p->terms[k], &had_other);
            none.terms[0].factor = most.terms[0].factor;
            is_lesser = is_lesser || (k != i && had != had_other && hone_poly_equal(&most, &none) &&
                                      (most.terms[0].factor > one.terms[0].factor ||
                                       (most.terms[0].factor == one.terms[0].factor && k < i)));
        }
        if (!is_lesser)
            all = hone_poly_add(&all, &one, 1);
    }
    return p->is_known ? all : *p;
}

/* ---- conditions ---- */

/* What conditions say of a name where it is used: those around the place hold there, and those that
 * leave a block before it (if (x == 0 || x == w - 1) continue;) do not. One comparison at a time;
 * the name, or the name and a number or size more or less, stands on its left side. */

enum relation { BELOW, AT_MOST, ABOVE, AT_LEAST, EQUAL, OTHER };

static const struct {
    const char *sign;
    enum relation relation, negated;
} relations[] = {{"<=", AT_MOST, ABOVE}, {">=", AT_LEAST, BELOW}, {"==", EQUAL, OTHER},
                 {"!=", OTHER, EQUAL},   {"<", BELOW, AT_LEAST},  {">", ABOVE, AT_MOST}};

static bool has_sign(const struct hone_extent_scope *s, size_t i, const char *sign)
{
    const char one[2] = {sign[0], '\0'};
    return hone_extent_is(s, i, one) && (sign[1] == '\0' || hone_extent_is(s, i + 1, sign + 1));
}

/* A number less a size comes below 0 for most sizes, and says nothing of shapes. */
static bool is_falling(const struct hone_poly *v)
{
    bool has_less = false, has_more = false;
    for (size_t i = 0; i < v->n; i++) {
        has_less = has_less || (v->terms[i].degree > 0 && v->terms[i].factor < 0);
        has_more = has_more || (v->terms[i].degree > 0 && v->terms[i].factor > 0);
    }
    return has_less && !has_more;
}

/* Takes v as a bound where what is known says less, or cannot be compared with it. */
static void take_high(struct hone_extent_values *e, const struct hone_poly *v)
{
    if (!is_falling(v) &&
        (!e->hi.is_known || hone_poly_covers(&e->hi, v) || !hone_poly_covers(v, &e->hi)))
        e->hi = *v;
}

static void take_low(struct hone_extent_values *e, const struct hone_poly *v)
{
    if (!e->lo.is_known || hone_poly_covers(v, &e->lo) || !hone_poly_covers(&e->lo, v))
        e->lo = *v;
}

static void apply(struct hone_extent_values *e, enum relation r, const struct hone_poly *v)
{
    const struct hone_poly one = hone_poly_number(1);
    struct hone_poly less = hone_poly_add(v, &one, -1), more = hone_poly_add(v, &one, 1);
    if (r == BELOW || r == AT_MOST || r == EQUAL)
        take_high(e, r == BELOW ? &less : v);
    if (r == ABOVE || r == AT_LEAST || r == EQUAL)
        take_low(e, r == ABOVE ? &more : v);
    if (r == OTHER && e->hi.is_known && hone_poly_equal(&e->hi, v))
        e->hi = less;
    if (r == OTHER && e->lo.is_known && hone_poly_equal(&e->lo, v))
        e->lo = more;
}

/* One comparison, tokens first..end-1. */
static void compare(const struct hone_extent_scope *s, size_t name, size_t first, size_t end,
                    bool is_negated, struct hone_extent_values *e)
{
    while (hone_extent_is(s, first, "(") && hone_c_closing(&s->x->t, first) + 1 == end)
        first++, end--;
    if (first + 2 >= end || !hone_extent_same(hone_extent_at(s, first), hone_extent_at(s, name)))
        return;
    for (size_t i = first + 1; i < end; i++) {
        if (hone_extent_is(s, i, "(") || hone_extent_is(s, i, "[")) {
            i = hone_c_closing(&s->x->t, i);
            continue;
        }
        for (size_t r = 0; r < HONE_COUNTOF(relations); r++) {
            if (!has_sign(s, i, relations[r].sign))
                continue;
            size_t right = i + strlen(relations[r].sign);
            struct hone_extent_values v = hone_extent_evaluate(s, right, end, right);
            if (i > first + 1) { /* name + E: what is added goes to the other side */
                struct hone_extent_values by = {.lo = {.is_known = false}};
                if (hone_extent_is_sign(s, first + 1)) /* with its sign: name - m - 2 */
                    by = hone_extent_evaluate(s, first + 1 + hone_extent_is(s, first + 1, "+"), i,
                                              first);
                if (!by.hi.is_known || !hone_poly_equal(&by.lo, &by.hi))
                    return;
                v.lo = hone_poly_add(&v.lo, &by.hi, -1);
                v.hi = hone_poly_add(&v.hi, &by.hi, -1);
            }
            if (v.hi.is_known && hone_poly_equal(&v.lo, &v.hi))
                apply(e, is_negated ? relations[r].negated : relations[r].relation, &v.hi);
            return;
        }
    }
}

/* All of a condition in brackets that hold (&&), or do not (||); others say nothing. */
static void read_condition(const struct hone_extent_scope *s, size_t name, size_t open,
                           bool is_negated, struct hone_extent_values *e)
{
    const char *const ours = is_negated ? "||" : "&&", *const others = is_negated ? "&&" : "||";
    size_t close = hone_c_closing(&s->x->t, open), first = open + 1;
    for (size_t i = open + 1; i < close; i++) {
        if (hone_extent_is(s, i, "(") || hone_extent_is(s, i, "["))
            i = hone_c_closing(&s->x->t, i);
        else if (has_sign(s, i, others) || hone_extent_is(s, i, "?"))
            return;
    }
    for (size_t i = open + 1; i <= close; i++) {
        if (hone_extent_is(s, i, "(") || hone_extent_is(s, i, "[")) {
            i = hone_c_closing(&s->x->t, i);
        } else if (i == close || has_sign(s, i, ours)) {
            compare(s, name, first, i, is_negated, e);
            first = i + 2;
        }
    }
}

/* Does the statement first..end, or the last one of that block, leave what is around it? */
static bool leaves(const struct hone_extent_scope *s, size_t first, size_t end)
{
    static const char *const words[] = {"continue", "break", "return"};
    if (hone_extent_is(s, first, "{")) {
        size_t last = ++first;
        for (; first < end; first = hone_extent_statement_end(s, first) + 1)
            last = first;
        first = last;
    }
    for (size_t w = 0; w < HONE_COUNTOF(words); w++)
        if (hone_extent_is(s, first, words[w]))
            return true;
    return false;
}

/* Does a label stand at token i, to which others jump? */
static bool is_label(const struct hone_extent_scope *s, size_t i)
{
    return hone_extent_is(s, i, "case") || hone_extent_is(s, i, "default") ||
           (strchr(";{}", *hone_extent_at(s, i - 1)->at) && hone_c_is_word(hone_extent_at(s, i)) &&
            hone_extent_is(s, i + 1, ":"));
}

/* Is each way to token `pos` one past token i, which begins a statement? */
static bool is_before(const struct hone_extent_scope *s, size_t i, size_t pos)
{
    if (!strchr(";{}", *hone_extent_at(s, i - 1)->at))
        return false;
    int depth = 0;
    bool has_label = false;
    for (; i < pos && depth >= 0; i++) {
        depth += hone_extent_is(s, i, "{") - hone_extent_is(s, i, "}");
        has_label = has_label || is_label(s, i);
    }
    return depth >= 0 && !has_label;
}

/* Is the name at token i set there, or one like it declared? */
static bool is_set(const struct hone_extent_scope *s, size_t i)
{
    bool is_twice = hone_extent_at(s, i + 1)->len == 1 && hone_extent_is(s, i + 2, "=");
    for (size_t side = 0; side < 2; side++)
        for (const char *sign = "+-"; *sign; sign++) {
            const char text[2] = {*sign, '\0'};
            size_t at = side ? i + 1 : i - 2;
            if (hone_extent_is(s, at, text) && hone_extent_is(s, at + 1, text))
                return true;
        }
    return (hone_extent_is(s, i + 1, "=") && !is_twice) ||
           (is_twice && strchr("+-*/%&|^", *hone_extent_at(s, i + 1)->at)) ||
           (hone_extent_is(s, i + 3, "=") &&
            (has_sign(s, i + 1, "<<") || has_sign(s, i + 1, ">>"))) ||
           (hone_extent_is(s, i - 1, "&") && !hone_extent_is(s, i - 2, "&")) ||
           hone_extent_is_type(hone_extent_at(s, i - 1));
}

/* Has the name another value at token `pos` than at token `from`: is it set between them, or in a
 * loop that begins there and goes on around `pos`? */
static bool is_other(const struct hone_extent_scope *s, size_t name, size_t from, size_t pos)
{
    size_t end = pos;
    for (size_t i = from; i < end; i++) {
        size_t last = i;
        if (hone_extent_is(s, i, "for") || hone_extent_is(s, i, "while"))
            last = hone_extent_statement_end(s, hone_c_closing(&s->x->t, i + 1) + 1);
        else if (hone_extent_is(s, i, "do"))
            last = hone_extent_statement_end(s, i + 1);
        if (last >= pos && last > end)
            end = last;
        if (hone_extent_same(hone_extent_at(s, i), hone_extent_at(s, name)) && is_set(s, i))
            return true;
    }
    return false;
}

void hone_extent_narrow(const struct hone_extent_scope *s, size_t name, size_t pos,
                        struct hone_extent_values *e)
{
    for (size_t i = s->d->close + 1; i < pos; i++) {
        if (!hone_extent_is(s, i, "if") || !hone_extent_is(s, i + 1, "("))
            continue;
        size_t body = hone_c_closing(&s->x->t, i + 1) + 1, end = hone_extent_statement_end(s, body);
        bool is_under = pos >= body && pos <= end;
        if (!is_under && !(end < pos && is_before(s, i, pos) && leaves(s, body, end)))
            continue;
        if (!is_other(s, name, is_under ? body : end + 1, pos))
            read_condition(s, name, i + 1, !is_under, e);
    }
}
