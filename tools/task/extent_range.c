/* SPDX-License-Identifier: Apache-2.0 */
/* Expressions are evaluated to a least and a largest value, both sums of products of sizes, with
 * sizes taken as 1 or more and large. `scope` is one function with what its parameters stand for. */
#include "tools/task/extent_internal.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "workspace/base/limits.h"

struct part { /* tokens first..end-1, evaluated at `pos` */
    size_t first, end, pos;
};

static struct hone_extent_values unknown(void)
{
    return (struct hone_extent_values){.lo = {.is_known = false}};
}

static struct hone_extent_values exact(struct hone_poly p)
{
    return (struct hone_extent_values){p, p};
}

/* ---- names ---- */

int hone_extent_find(struct hone_extent *x, const char *text, const struct hone_param *param,
                     bool is_content)
{
    for (int i = 0; i < x->n_names; i++)
        if (x->names[i].is_content == is_content && strcmp(x->names[i].text, text) == 0)
            return i;
    if (x->n_names == HONE_EXTENT_NAMES)
        return -1;
    x->names[x->n_names] = (struct hone_extent_name){text, param, is_content, false};
    return x->n_names++;
}

const struct hone_param *hone_extent_param(const struct hone_extent_scope *s, size_t i)
{
    for (size_t p = 0; s->caller == NULL && p < s->x->proto->n_params; p++)
        if (hone_c_is(hone_extent_at(s, i), s->x->proto->params[p].name))
            return &s->x->proto->params[p];
    return NULL;
}

/* Number of the parameter at token i in a function that is called; -1: none. */
int hone_extent_argument(const struct hone_extent_scope *s, size_t i)
{
    int n = 0;
    size_t last = s->d->open;
    for (size_t k = s->d->open + 1; s->caller && k <= s->d->close; k++) {
        if (hone_c_is_word(hone_extent_at(s, k)))
            last = k;
        if (hone_extent_is(s, k, "[")) {
            k = hone_c_closing(&s->x->t, k);
            continue;
        }
        if (!hone_extent_is(s, k, ",") && k < s->d->close)
            continue;
        if (hone_extent_same(hone_extent_at(s, last), hone_extent_at(s, i)))
            return n < (int)s->n_args ? n : -1;
        n++;
    }
    return -1;
}

/* ---- what is compared with what ---- */

/* The end of the operand that begins at i: before , ; : ? && || or a bracket that closes. */
static size_t operand_end(const struct hone_extent_scope *s, size_t i)
{
    for (; i < s->d->end; i++) {
        if (hone_extent_is(s, i, "(") || hone_extent_is(s, i, "["))
            i = hone_c_closing(&s->x->t, i);
        else if (strchr(",;:?)]}{=", *hone_extent_at(s, i)->at) ||
                 (strchr("&|", *hone_extent_at(s, i)->at) &&
                  hone_extent_same(hone_extent_at(s, i), hone_extent_at(s, i + 1))))
            return i;
    }
    return i;
}

/* The end of what is assigned from token i on. */
static size_t assigned_end(const struct hone_extent_scope *s, size_t i)
{
    for (; i < s->x->t.n && !strchr(",;)]}{", *hone_extent_at(s, i)->at); i++)
        if (hone_extent_is(s, i, "(") || hone_extent_is(s, i, "["))
            i = hone_c_closing(&s->x->t, i);
    return i;
}

/* Does the operator at token i say that its left side is below its right side, or that the right
 * side is the end (!=, and > of a test that leaves)? ret: the first token of the right side. */
static bool is_upper(const struct hone_extent_scope *s, size_t i, bool allows_greater,
                     bool *ret_is_strict, size_t *ret)
{
    bool has_equal = hone_extent_is(s, i + 1, "=");
    if (hone_extent_is(s, i - 1, "<") || hone_extent_is(s, i - 1, ">") ||
        hone_extent_is(s, i + 1, "<") || hone_extent_is(s, i + 1, ">") ||
        hone_extent_is(s, i - 1, "-"))
        return false;
    *ret = i + 1 + has_equal;
    *ret_is_strict = hone_extent_is(s, i, "<") ? !has_equal : has_equal;
    return hone_extent_is(s, i, "<") || (allows_greater && hone_extent_is(s, i, ">")) ||
           (hone_extent_is(s, i, "!") && has_equal && (*ret_is_strict = true));
}

/* What `name < E` and its like between first and end say of a name, or of the words of a part. */
static bool bound_between(const struct hone_extent_scope *s, const struct part *what, size_t first,
                          size_t end, bool is_guard, struct hone_poly *ret)
{
    size_t n = what->end - what->first;
    bool is_strict, found = false;
    for (size_t i = first; i + n < end; i++) {
        size_t k = 0, right;
        int64_t number, plus = 0;
        while (k < n &&
               hone_extent_same(hone_extent_at(s, i + k), hone_extent_at(s, what->first + k)))
            k++;
        if (k < n || !strchr("(&|;?!,=:", *hone_extent_at(s, i - 1)->at))
            continue;
        if (!is_guard && hone_extent_is(s, i + n, "+") &&
            isdigit((unsigned char)*hone_extent_at(s, i + n + 1)->at)) {
            plus = strtoll(hone_extent_at(s, i + n + 1)->at, NULL, 10);
            k += 2;
        }
        if (!is_upper(s, i + k, is_guard, &is_strict, &right))
            continue;
        struct hone_extent_values e = hone_extent_evaluate(s, right, operand_end(s, right), right);
        if (!e.hi.is_known || (is_guard && hone_poly_is_number(&e.hi, &number)))
            continue;
        const struct hone_poly one = hone_poly_number(1);
        e.hi = hone_poly_add(&e.hi, &one, -plus - (is_strict ? 1 : 0));
        if (!found || hone_poly_covers(&e.hi, ret))
            *ret = e.hi;
        found = true;
    }
    return found;
}

/* ---- loops ---- */

size_t hone_extent_statement_end(const struct hone_extent_scope *s, size_t i)
{
    while (i < s->d->end && !hone_extent_is(s, i, ";") && !hone_extent_is(s, i, "{")) {
        if (hone_extent_is(s, i, "(") || hone_extent_is(s, i, "["))
            i = hone_c_closing(&s->x->t, i);
        i++;
    }
    if (hone_extent_is(s, i, "{"))
        return hone_c_closing(&s->x->t, i);
    return i;
}

/* The end of what the head at `for`, `while` or `if` governs, without else. */
static size_t governed_end(const struct hone_extent_scope *s, size_t head)
{
    size_t i = head;
    while (i < s->d->end && (hone_extent_is(s, i, "for") || hone_extent_is(s, i, "while") ||
                             hone_extent_is(s, i, "if")))
        i = hone_c_closing(&s->x->t, i + 1) + 1;
    return hone_extent_statement_end(s, i);
}

static size_t loop_end(const struct hone_extent_scope *s, size_t loop)
{
    size_t i = governed_end(s, loop);
    while (hone_extent_is(s, i + 1, "else"))
        i = hone_extent_statement_end(s, i + 2);
    return i;
}

static bool find_bound(const struct hone_extent_scope *s, const struct part *what, size_t first,
                       size_t end, struct hone_poly *ret)
{
    return bound_between(s, what, first, end, false, ret);
}

/* The same of the conditions around the part; where none of them says it, of the whole body, whose
 * conditions may leave the function. */
static bool find_guard(const struct hone_extent_scope *s, const struct part *what,
                       struct hone_poly *ret)
{
    for (size_t i = what->pos; i > s->d->close; i--)
        if (hone_extent_is(s, i, "if") && governed_end(s, i) > what->pos &&
            bound_between(s, what, i + 2, hone_c_closing(&s->x->t, i + 1) + 1, true, ret))
            return true;
    return bound_between(s, what, s->d->close + 1, s->d->end, true, ret);
}

static void note_step(const struct hone_extent_scope *s, const struct hone_poly *end,
                      const struct hone_poly *step)
{
    struct hone_extent *x = s->x;
    const char *text = hone_pool_printf(x->pool, "%s %% (%s) == 0", hone_extent_text(x, end),
                                        hone_extent_text(x, step));
    x->has_steps = true;
    for (size_t i = 0; i < x->n_steps; i++)
        if (strcmp(x->steps[i], text) == 0)
            return;
    if (x->n_steps < HONE_EXTENT_STEPS)
        x->steps[x->n_steps++] = text;
}

/* The step of `name += E` between first and end; not known: 1, or another kind. */
static struct hone_poly step_of(const struct hone_extent_scope *s, size_t name, size_t first,
                                size_t end)
{
    int64_t number;
    for (size_t i = first; i + 2 < end; i++) {
        if (!hone_extent_same(hone_extent_at(s, i), hone_extent_at(s, name)) ||
            !hone_extent_is(s, i + 1, "+") || !hone_extent_is(s, i + 2, "="))
            continue;
        struct hone_extent_values e = hone_extent_evaluate(s, i + 3, end, i);
        bool is_one = hone_poly_is_number(&e.hi, &number) && number == 1;
        return is_one || !hone_poly_equal(&e.lo, &e.hi) ? unknown().hi : e.hi;
    }
    return unknown().hi;
}

/* for (name = A; name < E; ...): token i is the name, `loop` the word for. */
static bool range_in_for(const struct hone_extent_scope *s, size_t name, size_t loop,
                         struct hone_extent_values *ret)
{
    size_t open = loop + 1, close = hone_c_closing(&s->x->t, open), semi[2] = {0, 0}, n = 0;
    for (size_t i = open + 1; i < close && n < 2; i++) {
        if (hone_extent_is(s, i, "("))
            i = hone_c_closing(&s->x->t, i);
        else if (hone_extent_is(s, i, ";"))
            semi[n++] = i;
    }
    if (n < 2)
        return false;
    struct hone_extent_values start = unknown();
    bool is_own = false;
    for (size_t i = open + 1; i < semi[0]; i++)
        if (hone_extent_same(hone_extent_at(s, i), hone_extent_at(s, name)) &&
            hone_extent_is(s, i + 1, "=") && !hone_extent_is(s, i + 2, "=")) {
            start = hone_extent_evaluate(s, i + 2, assigned_end(s, i + 2), loop);
            is_own = true;
        }
    const struct part what = {name, name + 1, name};
    struct hone_poly hi;
    if (find_bound(s, &what, semi[0] + 1, semi[1] + 1, &hi)) {
        const struct hone_poly one = hone_poly_number(1);
        struct hone_poly step = step_of(s, name, semi[1] + 1, close);
        struct hone_poly end = hone_poly_add(&hi, &one, 1);
        if (step.is_known) {
            note_step(s, &end, &step);
            if (s->x->divides)
                hi = hone_poly_add(&end, &step, -1);
        }
        *ret = (struct hone_extent_values){is_own ? start.lo : hone_poly_number(0), hi};
        return true;
    }
    for (size_t i = semi[0] + 1; is_own && i < close; i++) /* downwards */
        if (hone_extent_same(hone_extent_at(s, i), hone_extent_at(s, name)) &&
            (hone_extent_is(s, i + 1, ">") || hone_extent_is(s, i + 1, "-") ||
             hone_extent_is(s, i + 1, "/") || hone_extent_is(s, i - 1, "-"))) {
            *ret = (struct hone_extent_values){hone_poly_number(0), start.hi};
            return true;
        }
    return false;
}

/* The innermost loop around `pos` whose head says how far the name at token i goes. */
static bool range_in_loop(const struct hone_extent_scope *s, size_t name, size_t pos,
                          struct hone_extent_values *ret)
{
    const struct part what = {name, name + 1, name};
    for (size_t i = pos; i > s->d->close; i--) {
        bool is_for = hone_extent_is(s, i, "for"), is_while = hone_extent_is(s, i, "while");
        if ((!is_for && !is_while) || loop_end(s, i) < pos)
            continue;
        if (is_for && range_in_for(s, name, i, ret))
            return true;
        if (is_while &&
            find_bound(s, &what, i + 2, hone_c_closing(&s->x->t, i + 1) + 1, &ret->hi)) {
            ret->lo = hone_poly_number(0);
            return true;
        }
    }
    return false;
}

/* ---- variables ---- */

void hone_extent_widen(struct hone_extent_values *all, const struct hone_extent_values *e,
                       bool is_first)
{
    if (is_first) {
        *all = *e;
        return;
    }
    all->hi = !e->hi.is_known || hone_poly_covers(&e->hi, &all->hi) ? e->hi
              : hone_poly_covers(&all->hi, &e->hi)                  ? all->hi
                                                                    : unknown().hi;
    all->lo = !e->lo.is_known || hone_poly_covers(&all->lo, &e->lo) ? e->lo
              : hone_poly_covers(&e->lo, &all->lo)                  ? all->lo
                                                                    : unknown().lo;
}

/* Over all that is assigned to the name, in the body or, for constants, outside of functions. */
static struct hone_extent_values range_of_assigned(const struct hone_extent_scope *s, size_t name,
                                                   bool is_global)
{
    struct hone_extent_values all = unknown();
    size_t n = 0, first = is_global ? 1 : s->d->close + 1, end = is_global ? s->x->t.n : s->d->end;
    for (size_t i = first; i + 2 < end; i++) {
        if (is_global && hone_extent_is(s, i, "{") && !hone_extent_is(s, i - 1, "enum") &&
            hone_extent_is(s, i - 1, ")"))
            i = hone_c_closing(&s->x->t, i); /* a function's body */
        if (!hone_extent_same(hone_extent_at(s, i), hone_extent_at(s, name)) ||
            hone_extent_is(s, i - 1, ".") || hone_extent_is(s, i - 1, ">"))
            continue;
        bool is_changed =
            (hone_extent_is(s, i + 1, "+") && hone_extent_is(s, i + 2, "+")) || /* a counter */
            (hone_extent_is(s, i - 1, "+") && hone_extent_is(s, i - 2, "+")) ||
            (strchr("+*|^", *hone_extent_at(s, i + 1)->at) && hone_extent_is(s, i + 2, "="));
        if (is_changed)
            return unknown();
        if (!hone_extent_is(s, i + 1, "=") || hone_extent_is(s, i + 2, "="))
            continue;
        struct hone_extent_values e = hone_extent_evaluate(s, i + 2, assigned_end(s, i + 2), i);
        hone_extent_widen(&all, &e, n++ == 0);
    }
    return all;
}

/* ---- counters ---- */

/* Is token i an operand of ++, or of +=? */
static bool is_counted(const struct hone_extent_scope *s, size_t i)
{
    return (hone_extent_is(s, i + 1, "+") &&
            (hone_extent_is(s, i + 2, "+") || hone_extent_is(s, i + 2, "="))) ||
           (hone_extent_is(s, i - 1, "+") && hone_extent_is(s, i - 2, "+"));
}

/* How often the body of the loop at token `loop` runs, at most. */
static struct hone_poly trip_count(const struct hone_extent_scope *s, size_t loop)
{
    const struct hone_poly one = hone_poly_number(1);
    size_t close = hone_c_closing(&s->x->t, loop + 1), first = loop + 2;
    struct hone_extent_values e = unknown();
    bool divides = s->x->divides, found = false;
    if (hone_extent_is(s, loop, "while") && hone_extent_is(s, first + 1, "-") &&
        hone_extent_is(s, first + 2, "-")) /* while (n--) */
        return hone_extent_evaluate(s, first, first + 1, loop).hi;
    s->x->divides = false;
    for (size_t i = first; !found && i < close; i++) {
        const struct part what = {i, i + 1, loop};
        if (!hone_c_is_word(hone_extent_at(s, i)) || hone_extent_is_type(hone_extent_at(s, i)))
            continue;
        if (hone_extent_is(s, loop, "for"))
            found = range_in_for(s, i, loop, &e);
        else if ((found = find_bound(s, &what, first, close + 1, &e.hi)))
            e.lo = hone_poly_number(0);
        if (!found)
            continue;
        struct hone_poly count = hone_poly_add(&e.hi, &e.lo, -1), step = unknown().hi;
        count = hone_poly_add(&count, &one, 1);
        if (hone_extent_is(s, loop, "for"))
            step = step_of(s, i, first, close);
        if (count.is_known && step.is_known) {
            const char *text = hone_extent_text(s->x, &step);
            count = hone_poly_add(&count, &step, 1);
            count = hone_poly_add(&count, &one, -1);
            int name = hone_extent_find(
                s->x,
                hone_pool_printf(s->x->pool, "(%s) // (%s)", hone_extent_text(s->x, &count), text),
                NULL, false);
            count = name < 0 ? unknown().hi : hone_poly_name(name);
        }
        e.hi = count;
    }
    s->x->divides = divides;
    return found ? e.hi : unknown().hi;
}

/* The product of the trips of all loops around token i that begin behind `from`. */
static struct hone_poly trips_around(const struct hone_extent_scope *s, size_t i, size_t from)
{
    struct hone_poly all = hone_poly_number(1);
    for (size_t k = from; k < i; k++) {
        bool is_loop = hone_extent_is(s, k, "for") ||
                       (hone_extent_is(s, k, "while") && !hone_extent_is(s, k - 1, "}"));
        if (!is_loop || loop_end(s, k) < i)
            continue;
        if (hone_c_closing(&s->x->t, k + 1) > i) /* in the loop's head */
            return unknown().hi;
        struct hone_poly trips = trip_count(s, k);
        all = hone_poly_multiply(&all, &trips);
    }
    return all;
}

bool hone_extent_is_counter(const struct hone_extent_scope *s, size_t name)
{
    for (size_t i = s->d->close + 2; i < s->d->end; i++)
        if (hone_extent_same(hone_extent_at(s, i), hone_extent_at(s, name)) && is_counted(s, i))
            return true;
    return false;
}

struct hone_poly hone_extent_counted(const struct hone_extent_scope *s, size_t name, size_t pos,
                                     bool *ret_is_inside)
{
    struct hone_poly all = hone_poly_number(0);
    size_t set = s->d->close + 1;
    *ret_is_inside = is_counted(s, pos);
    for (size_t i = set; i < pos; i++)
        if (hone_extent_same(hone_extent_at(s, i), hone_extent_at(s, name)) &&
            hone_extent_is(s, i + 1, "=") && !hone_extent_is(s, i + 2, "="))
            set = i;
    for (size_t i = set; i < s->d->end; i++) {
        if (!hone_extent_same(hone_extent_at(s, i), hone_extent_at(s, name)) || !is_counted(s, i))
            continue;
        struct hone_poly by = hone_poly_number(1), trips = trips_around(s, i, set);
        if (hone_extent_is(s, i + 2, "="))
            by = hone_extent_evaluate(s, i + 3, assigned_end(s, i + 3), i).hi;
        by = hone_poly_multiply(&trips, &by);
        all = hone_poly_add(&all, &by, 1);
        for (size_t k = set; k < pos && k < i; k++)
            *ret_is_inside =
                *ret_is_inside || ((hone_extent_is(s, k, "for") || hone_extent_is(s, k, "while")) &&
                                   loop_end(s, k) >= i && loop_end(s, k) >= pos);
    }
    return all;
}

static struct hone_extent_values range_of_counter(const struct hone_extent_scope *s, size_t name,
                                                  size_t pos)
{
    struct hone_extent_values all = unknown();
    size_t n = 0;
    for (size_t i = s->d->close + 1; i < s->d->end; i++) {
        if (!hone_extent_same(hone_extent_at(s, i), hone_extent_at(s, name)) ||
            !hone_extent_is(s, i + 1, "=") || hone_extent_is(s, i + 2, "="))
            continue;
        struct hone_extent_values e = hone_extent_evaluate(s, i + 2, assigned_end(s, i + 2), i);
        hone_extent_widen(&all, &e, n++ == 0);
    }
    const struct hone_poly one = hone_poly_number(1);
    bool is_inside;
    struct hone_poly more = hone_extent_counted(s, name, pos, &is_inside);
    all.hi = hone_poly_add(&all.hi, &more, 1);
    all.hi = hone_poly_add(&all.hi, &one, is_inside ? -1 : 0);
    return all;
}

size_t hone_extent_first_step(const struct hone_extent_scope *s, size_t name, size_t from)
{
    size_t at = from;
    while (at < s->d->end &&
           !(hone_extent_same(hone_extent_at(s, at), hone_extent_at(s, name)) && is_counted(s, at)))
        at++;
    for (size_t k = from; k < at; k++)
        if ((hone_extent_is(s, k, "for") || hone_extent_is(s, k, "while")) && loop_end(s, k) >= at)
            return k;
    return at;
}

struct hone_poly hone_extent_rounds(const struct hone_extent_scope *s, size_t i, bool is_loop)
{
    struct hone_poly around = trips_around(s, i, s->d->close + 1), own = hone_poly_number(1);
    if (is_loop)
        own = trip_count(s, i);
    return hone_poly_multiply(&around, &own);
}

/* Without what conditions say of counters (hone_extent_narrow). */
static struct hone_extent_values range_unguarded(const struct hone_extent_scope *s, size_t name,
                                                 size_t pos)
{
    struct hone_extent_values e = unknown();
    struct hone_poly guard;
    const struct part what = {name, name + 1, pos};
    const struct hone_param *param = hone_extent_param(s, name);
    int argument = hone_extent_argument(s, name);
    if (range_in_loop(s, name, pos, &e))
        return e;
    if (argument >= 0) {
        e = hone_extent_evaluate(s->caller, s->args[2 * argument], s->args[2 * argument + 1],
                                 s->call);
        if (e.hi.is_known && find_guard(s, &what, &guard) && hone_poly_covers(&e.hi, &guard))
            e.hi = guard; /* if (v > hi) return hi; */
        return e;
    }
    if (param && !param->is_pointer && !hone_dtype_is_float(param->dtype))
        return exact(hone_poly_name(
            hone_extent_find(s->x, s->x->params[param - s->x->proto->params], param, false)));
    if (param)
        return unknown();
    e = range_of_assigned(s, name, false);
    bool is_counter = !e.hi.is_known && hone_extent_is_counter(s, name);
    if (find_guard(s, &what, &guard))
        return (struct hone_extent_values){hone_poly_number(0), guard};
    if (is_counter)
        return range_of_counter(s, name, name);
    return e.hi.is_known ? e : range_of_assigned(s, name, true);
}

static struct hone_extent_values range_of_name(const struct hone_extent_scope *s, size_t name,
                                               size_t pos)
{
    struct hone_extent_values e = range_unguarded(s, name, pos);
    if (e.hi.is_known && !hone_poly_equal(&e.lo, &e.hi) && !hone_extent_param(s, name))
        hone_extent_narrow(s, name, pos, &e);
    return e;
}

/* ---- expressions ---- */

bool hone_extent_is_type(const struct hone_c_token *t)
{
    static const char *const words[] = {"int",      "long",   "short",   "char",
                                        "unsigned", "signed", "const",   "float",
                                        "double",   "size_t", "ssize_t", "ptrdiff_t"};
    for (size_t i = 0; i < HONE_COUNTOF(words); i++)
        if (hone_c_is(t, words[i]))
            return true;
    return t->len > 2 && memcmp(t->at + t->len - 2, "_t", 2) == 0;
}

static bool is_cast(const struct hone_extent_scope *s, size_t open, size_t end)
{
    size_t close = hone_c_closing(&s->x->t, open);
    for (size_t i = open + 1; i < close; i++)
        if (!hone_extent_is_type(hone_extent_at(s, i)))
            return false;
    return close > open + 1 && close + 1 < end;
}

static struct hone_extent_values operand(const struct hone_extent_scope *s, size_t *i, size_t end,
                                         size_t pos)
{
    size_t first = *i;
    if (first >= end)
        return unknown();
    if (hone_extent_is(s, first, "(")) {
        size_t close = hone_c_closing(&s->x->t, first);
        if (is_cast(s, first, end)) {
            bool is_byte = (hone_extent_is(s, first + 1, "unsigned") &&
                            hone_extent_is(s, first + 2, "char")) ||
                           hone_extent_is(s, first + 1, "uint8_t");
            *i = close + 1;
            struct hone_extent_values e = operand(s, i, end, pos);
            return is_byte && !e.hi.is_known
                       ? (struct hone_extent_values){hone_poly_number(0), hone_poly_number(255)}
                       : e;
        }
        *i = close + 1;
        return hone_extent_evaluate(s, first + 1, close < end ? close : end, pos);
    }
    if (hone_extent_is(s, first, "-")) {
        struct hone_poly zero = hone_poly_number(0);
        *i = first + 1;
        struct hone_extent_values e = operand(s, i, end, pos);
        return (struct hone_extent_values){hone_poly_add(&zero, &e.hi, -1),
                                           hone_poly_add(&zero, &e.lo, -1)};
    }
    if (isdigit((unsigned char)*hone_extent_at(s, first)->at)) {
        char *stop = NULL;
        long long value = strtoll(hone_extent_at(s, first)->at, &stop, 0);
        *i = first + 1;
        return stop < hone_extent_at(s, first)->at + hone_extent_at(s, first)->len &&
                       strchr("uUlL", *stop) == NULL
                   ? unknown()
                   : exact(hone_poly_number(value));
    }
    *i = first + 1;
    if (!hone_c_is_word(hone_extent_at(s, first)))
        return unknown();
    if (hone_extent_is(s, first + 1, "(")) {
        *i = hone_c_closing(&s->x->t, first + 1) + 1;
        return hone_extent_is(s, first, "sizeof") ? exact(hone_poly_number(1))
                                                  : hone_extent_of_call(s, first, pos);
    }
    if (hone_extent_is(s, first, "sizeof"))
        return *i = end, exact(hone_poly_number(1));
    if (hone_extent_is(s, first + 1, "[")) {
        while (hone_extent_is(s, *i, "["))
            *i = hone_c_closing(&s->x->t, *i) + 1;
        return hone_extent_content(s, first);
    }
    if (hone_extent_is(s, first + 1, "+") && hone_extent_is(s, first + 2, "+"))
        *i = first + 3;
    return range_of_name(s, first, pos);
}

/* n / 2 of a size is a size of its own. */
static struct hone_extent_values divide(const struct hone_extent_scope *s,
                                        const struct hone_extent_values *a,
                                        const struct hone_extent_values *b)
{
    int64_t by, value;
    if (!hone_poly_is_number(&b->hi, &by) || by < 1 || !a->hi.is_known)
        return unknown();
    if (by == 1)
        return *a;
    if (hone_poly_is_number(&a->hi, &value))
        return (struct hone_extent_values){hone_poly_number(0), hone_poly_number(value / by)};
    bool is_exact = true;
    struct hone_poly p = a->hi;
    for (size_t i = 0; i < p.n; i++) {
        is_exact = is_exact && p.terms[i].factor % by == 0;
        p.terms[i].factor /= by;
    }
    if (is_exact)
        return (struct hone_extent_values){hone_poly_number(0), p};
    /* (E - 1) / by, for a loop's index, is below E / by where by divides E */
    struct hone_poly one = hone_poly_number(1), end = hone_poly_add(&a->hi, &one, 1);
    bool is_size = hone_poly_equal(&a->lo, &a->hi);
    const char *text = hone_pool_printf(
        s->x->pool, "(%s) // %lld", hone_extent_text(s->x, is_size ? &a->hi : &end), (long long)by);
    int name = hone_extent_find(s->x, text, NULL, false);
    if (name < 0)
        return unknown();
    if (is_size)
        return exact(hone_poly_name(name));
    end = hone_poly_name(name);
    return (struct hone_extent_values){hone_poly_number(0),
                                       hone_poly_add(&end, &one, s->x->divides ? -1 : 0)};
}

static struct hone_extent_values product(const struct hone_extent_scope *s, size_t *i, size_t end,
                                         size_t pos)
{
    struct hone_extent_values all = operand(s, i, end, pos);
    while (*i < end && strchr("*/%", *hone_extent_at(s, *i)->at)) {
        char sign = *hone_extent_at(s, (*i)++)->at;
        struct hone_extent_values e = operand(s, i, end, pos);
        const struct hone_poly one = hone_poly_number(1);
        if (sign == '*') {
            /* what an index is multiplied with stands behind it: y * w and w * y are h*w */
            bool is_size = hone_poly_equal(&all.lo, &all.hi) && !hone_poly_equal(&e.lo, &e.hi);
            const struct hone_extent_values *a = is_size ? &e : &all, *b = is_size ? &all : &e;
            all = (struct hone_extent_values){hone_poly_multiply(&a->lo, &b->lo),
                                              hone_poly_multiply(&a->hi, &b->hi)};
        } else if (sign == '/') {
            all = divide(s, &all, &e);
        } else {
            all = (struct hone_extent_values){hone_poly_number(0), hone_poly_add(&e.hi, &one, -1)};
        }
    }
    return all;
}

static struct hone_extent_values sum(const struct hone_extent_scope *s, size_t first, size_t end,
                                     size_t pos)
{
    struct hone_extent_values all = exact(hone_poly_number(0));
    int64_t sign = 1;
    for (size_t i = first; i < end;) {
        struct hone_poly guard;
        const struct part rest = {i, end, pos};
        struct hone_extent_values e;
        if (sign > 0 && end - i > 1 && find_guard(s, &rest, &guard)) {
            e = (struct hone_extent_values){hone_poly_number(0), guard};
            i = end;
        } else if (!hone_extent_row_length(s, &i, end, &e)) {
            e = product(s, &i, end, pos);
        }
        all = sign > 0 ? (struct hone_extent_values){hone_poly_add(&all.lo, &e.lo, 1),
                                                     hone_poly_add(&all.hi, &e.hi, 1)}
                       : (struct hone_extent_values){hone_poly_add(&all.lo, &e.hi, -1),
                                                     hone_poly_add(&all.hi, &e.lo, -1)};
        if (i >= end)
            break;
        if (!hone_extent_is_sign(s, i))
            return unknown();
        sign = hone_extent_is(s, i, "-") ? -1 : 1;
        i++;
    }
    return all;
}

static size_t find_operator(const struct hone_extent_scope *s, size_t first, size_t end,
                            const char *text)
{
    for (size_t i = first; i < end; i++) {
        if (hone_extent_is(s, i, "(") || hone_extent_is(s, i, "["))
            i = hone_c_closing(&s->x->t, i);
        else if (i > first && hone_extent_is(s, i, text))
            return i;
    }
    return end;
}

static struct hone_extent_values evaluate_part(const struct hone_extent_scope *s, size_t first,
                                               size_t end, size_t pos)
{
    int64_t number;
    size_t mark = find_operator(s, first, end, "?");
    if (mark < end) {
        const size_t colon = find_operator(s, mark, end, ":");
        return hone_extent_of_choice(s, first, mark, colon, end, pos);
    }
    if ((mark = find_operator(s, first, end, "&")) < end) {
        struct hone_extent_values e = hone_extent_evaluate(s, mark + 1, end, pos);
        return hone_poly_is_number(&e.hi, &number)
                   ? (struct hone_extent_values){hone_poly_number(0), e.hi}
                   : unknown();
    }
    if ((mark = find_operator(s, first, end, ">")) < end && hone_extent_is(s, mark + 1, ">")) {
        struct hone_extent_values a = hone_extent_evaluate(s, first, mark, pos),
                                  b = hone_extent_evaluate(s, mark + 2, end, pos);
        if (!hone_poly_is_number(&b.hi, &number) || number < 0 || number > 30)
            return unknown();
        b = exact(hone_poly_number(1 << number));
        return divide(s, &a, &b);
    }
    if ((mark = find_operator(s, first, end, "<")) < end && hone_extent_is(s, mark + 1, "<")) {
        struct hone_extent_values a = hone_extent_evaluate(s, first, mark, pos),
                                  b = hone_extent_evaluate(s, mark + 2, end, pos);
        if (!hone_poly_is_number(&b.hi, &number) || number < 0 || number > 30)
            return unknown();
        const struct hone_poly by = hone_poly_number(1 << number);
        return (struct hone_extent_values){hone_poly_multiply(&a.lo, &by),
                                           hone_poly_multiply(&a.hi, &by)};
    }
    return sum(s, first, end, pos);
}

struct hone_extent_values hone_extent_evaluate(const struct hone_extent_scope *s, size_t first,
                                               size_t end, size_t pos)
{
    struct hone_extent_values e = unknown();
    if (s->x->depth >= HONE_EXTENT_DEPTH || first >= end || end > s->x->t.n ||
        ++s->x->n_evaluated > HONE_EXTENT_EVALUATED)
        return e;
    s->x->depth++;
    e = evaluate_part(s, first, end, pos);
    s->x->depth--;
    return e;
}
