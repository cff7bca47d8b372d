/* SPDX-License-Identifier: Apache-2.0 */
/* What a call or a choice (C ? A : B) may come to: smallest, largest, and values that are kept
 * inside of borders, written out or in a helper of the source. */
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
