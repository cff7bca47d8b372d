/* SPDX-License-Identifier: Apache-2.0 */
/* What conditions say of a name where it is used: those around the place hold there, and those that
 * leave a block before it (if (x == 0 || x == w - 1) continue;) do not. One comparison at a time;
 * the name, or the name and a number or size more or less, stands on its left side. */
#include "tools/task/extent_internal.h"

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

/* Takes v as a bound where what is known says less, or cannot be compared with it. */
static void take_high(struct hone_extent_values *e, const struct hone_poly *v)
{
    if (!e->hi.is_known || hone_poly_covers(&e->hi, v) || !hone_poly_covers(v, &e->hi))
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
        for (size_t r = 0; r < sizeof(relations) / sizeof(*relations); r++) {
            if (!has_sign(s, i, relations[r].sign))
                continue;
            size_t right = i + strlen(relations[r].sign);
            struct hone_extent_values v = hone_extent_evaluate(s, right, end, right);
            if (i > first + 1) { /* name + E: what is added goes to the other side */
                bool is_less = hone_extent_is(s, first + 1, "-");
                struct hone_extent_values by = {.lo = {.is_known = false}};
                if (hone_extent_is_sign(s, first + 1))
                    by = hone_extent_evaluate(s, first + 2, i, first);
                if (!by.hi.is_known || !hone_poly_equal(&by.lo, &by.hi))
                    return;
                v.lo = hone_poly_add(&v.lo, &by.hi, is_less ? 1 : -1);
                v.hi = hone_poly_add(&v.hi, &by.hi, is_less ? 1 : -1);
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
    for (size_t w = 0; w < sizeof(words) / sizeof(*words); w++)
        if (hone_extent_is(s, first, words[w]))
            return true;
    return false;
}

/* Is each way to token `pos` one past token i, which begins a statement? */
static bool is_before(const struct hone_extent_scope *s, size_t i, size_t pos)
{
    if (!strchr(";{}", *hone_extent_at(s, i - 1)->at))
        return false;
    int depth = 0;
    for (; i < pos && depth >= 0; i++)
        depth += hone_extent_is(s, i, "{") - hone_extent_is(s, i, "}");
    return depth >= 0;
}

void hone_extent_narrow(const struct hone_extent_scope *s, size_t name, size_t pos,
                        struct hone_extent_values *e)
{
    for (size_t i = s->d->close + 1; i < pos; i++) {
        if (!hone_extent_is(s, i, "if") || !hone_extent_is(s, i + 1, "("))
            continue;
        size_t body = hone_c_closing(&s->x->t, i + 1) + 1, end = hone_extent_statement_end(s, body);
        if (pos >= body && pos <= end)
            read_condition(s, name, i + 1, false, e);
        else if (end < pos && is_before(s, i, pos) && leaves(s, body, end))
            read_condition(s, name, i + 1, true, e);
    }
}
