/* SPDX-License-Identifier: Apache-2.0 */
/* Every use of an array in a function, and of pointers made of it, with what their subscripts may
 * be; and what else a caller asks of a function's sizes. */
#include "tools/task/extent_internal.h"

#include "tools/task/c_expand.h"

static struct hone_extent_values exact(struct hone_poly p)
{
    return (struct hone_extent_values){p, p};
}

/* ---- arrays ---- */

struct reaching {
    const struct hone_extent_scope *s;
    struct hone_extent_values all; /* of subscripts */
    size_t n;
    bool is_one, is_unknown;
    struct hone_poly filled; /* elements that a memset from the first one on writes; of the last */
};

static void add_range(struct reaching *r, const struct hone_extent_values *offset,
                      const struct hone_extent_values *e, bool is_one)
{
    struct hone_extent_values all = {hone_poly_add(&offset->lo, &e->lo, 1),
                                     hone_poly_add(&offset->hi, &e->hi, 1)};
    all.hi = hone_extent_join_lengths(r->s->x, &all.hi);
    hone_extent_widen(&r->all, &all, r->n++ == 0);
    r->is_one = r->is_one && is_one;
    r->is_unknown = r->is_unknown || !all.hi.is_known;
}

static void reach_of(struct reaching *r, const struct hone_extent_scope *s, size_t name,
                     size_t from, const struct hone_extent_values *offset);

bool hone_extent_callee(const struct hone_extent_scope *s, size_t open, struct hone_c_definition *d,
                        size_t args[2 * HONE_EXTENT_ARGS], size_t *ret_n)
{
    struct hone_extent *x = s->x;
    size_t from = 0, close = hone_c_closing(&x->t, open), first = open + 1, n = 0;
    while (hone_c_next_definition(&x->t, &from, d))
        if (d->end < x->t.n &&
            hone_extent_same(hone_extent_at(s, d->name), hone_extent_at(s, open - 1)))
            break;
    for (size_t i = first; i <= close && n < HONE_EXTENT_ARGS; i++) {
        if (hone_extent_is(s, i, "(") || hone_extent_is(s, i, "["))
            i = hone_c_closing(&x->t, i);
        if (!hone_extent_is(s, i, ",") && i < close)
            continue;
        args[2 * n] = first;
        args[2 * n++ + 1] = i;
        first = i + 1;
    }
    *ret_n = n;
    return d->end < x->t.n &&
           hone_extent_same(hone_extent_at(s, d->name), hone_extent_at(s, open - 1));
}

static void follow_call(struct reaching *r, const struct hone_extent_scope *s, size_t open,
                        size_t name, const struct hone_extent_values *offset)
{
    struct hone_c_definition d = {.end = s->x->t.n};
    size_t args[2 * HONE_EXTENT_ARGS], n;
    int number = -1;
    bool is_found = hone_extent_callee(s, open, &d, args, &n);
    for (size_t i = 0; i < n; i++)
        if (name >= args[2 * i] && name < args[2 * i + 1])
            number = (int)i;
    if (!is_found || number < 0 || s->n_calls == HONE_EXTENT_CALLS) {
        r->is_unknown = true;
        return;
    }
    const struct hone_extent_scope callee = {s->x, &d, s, args, n, name, s->n_calls + 1};
    for (size_t i = d.open + 1; i < d.close; i++)
        if (hone_extent_argument(&callee, i) == number &&
            (hone_extent_is(s, i + 1, ",") || i + 1 == d.close || hone_extent_is(s, i + 1, "["))) {
            reach_of(r, &callee, i, d.close + 1, offset);
            return;
        }
    r->is_unknown = true;
}

/* Does a length of bytes say elements, by sizeof? */
static bool is_counted(const struct hone_extent_scope *s, size_t from, size_t end)
{
    for (size_t i = from; i < end; i++)
        if (hone_extent_is(s, i, "sizeof"))
            return true;
    return false;
}

/* memset(p, 0, n * sizeof(*p)): sizeof counts as 1. */
static bool follow_copy(struct reaching *r, const struct hone_extent_scope *s, size_t open,
                        const struct hone_extent_values *offset)
{
    static const char *const words[] = {"memset", "memcpy", "memmove"};
    const struct hone_poly one = hone_poly_number(1);
    size_t close = hone_c_closing(&s->x->t, open), last = open;
    bool is_copy = false;
    int64_t start;
    for (size_t i = 0; i < HONE_COUNTOF(words); i++)
        is_copy = is_copy || hone_extent_is(s, open - 1, words[i]);
    for (size_t i = open + 1; i < close; i++) {
        if (hone_extent_is(s, i, "(") || hone_extent_is(s, i, "["))
            i = hone_c_closing(&s->x->t, i);
        else if (hone_extent_is(s, i, ","))
            last = i;
    }
    if (!is_copy)
        return false;
    struct hone_extent_values e = hone_extent_evaluate(s, last + 1, close, open);
    if (hone_extent_is(s, open - 1, words[0]) && is_counted(s, last, close) &&
        hone_poly_is_number(&offset->lo, &start) && start == 0)
        r->filled = e.hi;
    e.lo = hone_poly_number(0);
    e.hi = hone_poly_add(&e.hi, &one, -1);
    add_range(r, offset, &e, false);
    return true;
}

/* p, p + E, &p[E] as a value, tokens first..end-1: assigned to another pointer, or an argument. */
static void follow_value(struct reaching *r, const struct hone_extent_scope *s, size_t name,
                         size_t first, size_t end, const struct hone_extent_values *base)
{
    struct hone_extent_values offset = *base;
    size_t open = first - 1;
    if (hone_extent_is(s, name + 1, "+") && !hone_extent_is(s, name + 2, "+") && end > name + 2) {
        struct hone_extent_values e = hone_extent_evaluate(s, name + 2, end, name);
        offset = (struct hone_extent_values){hone_poly_add(&base->lo, &e.lo, 1),
                                             hone_poly_add(&base->hi, &e.hi, 1)};
    } else if (hone_extent_is(s, name + 1, "[") && hone_extent_is(s, first, "&")) {
        struct hone_extent_values e = hone_extent_evaluate(s, name + 2, end - 1, name);
        offset = (struct hone_extent_values){hone_poly_add(&base->lo, &e.lo, 1),
                                             hone_poly_add(&base->hi, &e.hi, 1)};
    } else if (end != name + 1) {
        r->is_unknown = true;
        return;
    }
    if (hone_extent_is(s, first - 1, "=") && hone_c_is_word(hone_extent_at(s, first - 2))) {
        reach_of(r, s, first - 2, end, &offset);
        return;
    }
    int depth = 0; /* the call's bracket */
    for (; open > s->d->close + 1; open--) {
        depth += hone_extent_is(s, open, ")") - hone_extent_is(s, open, "(");
        if (depth < 0)
            break;
    }
    if (depth >= 0 || !hone_c_is_word(hone_extent_at(s, open - 1)))
        r->is_unknown = true;
    else if (!follow_copy(r, s, open, &offset))
        follow_call(r, s, open, name, &offset);
}

/* Token i is the array's name, or a pointer's made of it. */
static void add_use(struct reaching *r, const struct hone_extent_scope *s, size_t i,
                    const struct hone_extent_values *offset)
{
    const struct hone_extent_values zero = exact(hone_poly_number(0));
    bool is_deref = hone_extent_is(s, i - 1, "*") && !hone_c_is_binary(&s->x->t, i - 1);
    if (hone_extent_is(s, i - 1, ".") ||
        (hone_extent_is(s, i - 1, ">") && hone_extent_is(s, i - 2, "-")) ||
        hone_extent_is(s, i - 1, "sizeof") || hone_extent_is(s, i - 2, "sizeof") ||
        hone_extent_is(s, i - 3, "sizeof"))
        return;
    if (hone_extent_is(s, i + 1, "[") && !hone_extent_is(s, i - 1, "&")) {
        size_t close = hone_c_closing(&s->x->t, i + 1);
        struct hone_extent_values e = hone_extent_evaluate(s, i + 2, close, i);
        add_range(r, offset, &e, hone_extent_is(s, i + 2, "0") && i + 3 == close);
        return;
    }
    bool is_stepped = hone_extent_is(s, i + 1, "+") &&
                      (hone_extent_is(s, i + 2, "+") || hone_extent_is(s, i + 2, "="));
    if (is_deref &&
        (is_stepped || (!hone_extent_is(s, i + 1, "+") && !hone_extent_is(s, i + 1, "-")))) {
        add_range(r, offset, &zero, !is_stepped);
        return;
    }
    if (is_stepped)
        return;
    if (hone_extent_is(s, i + 1, "+") && !hone_extent_is(s, i + 2, "+") &&
        !hone_extent_is(s, i + 2, "=") && hone_extent_is(s, i - 1, "(") &&
        hone_extent_is(s, i - 2, "*")) { /* *(p + E) */
        struct hone_extent_values e =
            hone_extent_evaluate(s, i + 2, hone_c_closing(&s->x->t, i - 1), i);
        add_range(r, offset, &e, false);
        return;
    }
    if ((hone_extent_is(s, i - 1, ")") && hone_extent_is(s, i - 2, "void")) ||
        hone_extent_is(s, i - 1, "!") ||
        (hone_extent_is(s, i - 1, "(") && hone_extent_is(s, i + 1, ")") &&
         hone_extent_is(s, i - 2, "if")) ||
        (hone_extent_is(s, i + 1, "=") && hone_extent_is(s, i + 2, "=")) ||
        (hone_extent_is(s, i + 1, "!") && hone_extent_is(s, i + 2, "=")) ||
        hone_extent_is(s, i - 1, "-") || hone_extent_is(s, i + 1, "-")) /* differences */
        return;
    size_t first = i, end = i;
    bool is_address = hone_extent_is(s, i - 1, "&") && hone_extent_is(s, i + 1, "[");
    first -= is_address;
    while (hone_extent_is(s, first - 1, ")") && first > s->d->close + 3) { /* a cast */
        size_t open = first - 1;
        while (open > s->d->close && !hone_extent_is(s, open, "("))
            open--;
        if (!hone_extent_is_type(hone_extent_at(s, open + 1)))
            break;
        first = open;
    }
    for (end = i + 1; end < s->d->end && !strchr(",;)", *hone_extent_at(s, end)->at); end++)
        if (hone_extent_is(s, end, "(") || hone_extent_is(s, end, "["))
            end = hone_c_closing(&s->x->t, end);
    if (hone_extent_is(s, i - 1, "(") && hone_extent_is(s, i - 2, "*"))
        r->is_unknown = true;
    else
        follow_value(r, s, i, first, end, offset);
}

static void reach_of(struct reaching *r, const struct hone_extent_scope *s, size_t name,
                     size_t from, const struct hone_extent_values *offset)
{
    if (s->x->depth >= HONE_EXTENT_DEPTH || ++s->x->n_evaluated > HONE_EXTENT_EVALUATED) {
        r->is_unknown = true;
        return;
    }
    struct hone_extent_values all = *offset;
    size_t first_step = s->d->end;
    s->x->depth++;
    if (hone_extent_is_counter(s, name)) {
        bool is_inside;
        struct hone_poly more = hone_extent_counted(s, name, from, &is_inside);
        const struct hone_poly one = hone_poly_number(1);
        all.hi = hone_poly_add(&all.hi, &more, 1);
        all.hi = hone_poly_add(&all.hi, &one, -1); /* behind the last there is nothing */
        first_step = hone_extent_first_step(s, name, from);
    }
    for (size_t i = from; i < s->d->end && !r->is_unknown; i++) {
        if (!hone_extent_same(hone_extent_at(s, i), hone_extent_at(s, name)))
            continue;
        if (hone_extent_is(s, i + 1, "=") && !hone_extent_is(s, i + 2, "=") &&
            !hone_extent_is(s, i - 1, "*"))
            break; /* another pointer from here on */
        add_use(r, s, i, i < first_step ? offset : &all);
    }
    s->x->depth--;
}

struct hone_reach hone_extent_reach(struct hone_extent *x, const struct hone_param *param,
                                    bool divides)
{
    const struct hone_extent_scope s = {.x = x, .d = &x->d};
    const struct hone_extent_values zero = exact(hone_poly_number(0));
    const struct hone_poly one = hone_poly_number(1);
    struct reaching r = {.s = &s, .is_one = true};
    struct hone_reach ret = {.is_one = false};
    size_t name = 0;
    int64_t number;
    x->divides = divides;
    x->has_steps = false;
    x->n_steps = x->n_evaluated = 0;
    x->depth = 0;
    for (size_t i = x->d.open; i < x->d.close; i++)
        if (hone_c_is(hone_extent_at(&s, i), param->name))
            name = i;
    if (name == 0 || x->d.end >= x->t.n)
        return ret;
    reach_of(&r, &s, name, x->d.close + 2, &zero);
    ret.has_steps = x->has_steps;
    if (r.is_unknown && r.filled.is_known) { /* bins[data[i]]: what is filled first is all of it */
        ret.size = r.filled;
        return ret;
    }
    if (r.is_unknown || r.n == 0)
        return ret;
    ret.size = hone_poly_add(&r.all.hi, &one, 1);
    ret.is_one = r.is_one;
    ret.starts_late =
        r.all.lo.is_known && !(hone_poly_is_number(&r.all.lo, &number) && number <= 0);
    return ret;
}

/* ---- for callers ---- */

static const struct hone_param *integer_at(const struct hone_extent_scope *s, size_t i)
{
    const struct hone_param *p = hone_extent_param(s, i);
    return p && !p->is_pointer && !hone_dtype_is_float(p->dtype) ? p : NULL;
}

const struct hone_param *hone_extent_row(struct hone_extent *x, const struct hone_param *param)
{
    const struct hone_extent_scope s = {.x = x, .d = &x->d};
    const struct hone_param *row = NULL;
    for (size_t i = x->d.close + 1; i < x->d.end && i < x->t.n; i++) {
        const struct hone_param *here = NULL;
        if (!hone_c_is(hone_extent_at(&s, i), param->name) || !hone_extent_is(&s, i + 1, "["))
            continue;
        size_t close = hone_c_closing(&x->t, i + 1);
        for (size_t k = i + 2; k < close; k++) {
            if (hone_extent_is(&s, k, "(") || hone_extent_is(&s, k, "["))
                k = hone_c_closing(&x->t, k);
            if (!here && hone_extent_is(&s, k + 1, "*"))
                here = integer_at(&s, k + 2) ? integer_at(&s, k + 2) : integer_at(&s, k);
        }
        if (!here || (row && row != here))
            return NULL;
        row = here;
    }
    return row;
}

static bool has_content(const struct hone_extent *x, const struct hone_poly *p)
{
    for (size_t i = 0; i < p->n; i++)
        for (int k = 0; k < p->terms[i].degree; k++)
            if (x->names[p->terms[i].names[k]].is_content)
                return true;
    return false;
}

/* Adds the rounds of the function's loops, and of those of the functions that it calls, to *all;
 * the function itself runs `times`. */
static void add_work(const struct hone_extent_scope *s, const struct hone_poly *times,
                     struct hone_poly *all)
{
    struct hone_extent *x = s->x;
    struct hone_c_definition d = {.end = x->t.n};
    size_t args[2 * HONE_EXTENT_ARGS], n;
    for (size_t i = s->d->close + 1; i < s->d->end && i < x->t.n; i++) {
        bool is_loop = hone_extent_is(s, i, "for") ||
                       (hone_extent_is(s, i, "while") && !hone_extent_is(s, i - 1, "}"));
        bool is_call = !is_loop && hone_c_is_word(hone_extent_at(s, i)) &&
                       hone_extent_is(s, i + 1, "(") && s->n_calls < HONE_EXTENT_CALLS &&
                       hone_extent_callee(s, i + 1, &d, args, &n);
        if (!is_loop && !is_call)
            continue;
        struct hone_poly rounds = hone_extent_rounds(s, i, is_loop);
        rounds = hone_poly_multiply(times, &rounds);
        if (!rounds.is_known || has_content(x, &rounds))
            continue;
        const struct hone_extent_scope callee = {x, &d, s, args, n, i, s->n_calls + 1};
        struct hone_poly sum = hone_poly_add(all, &rounds, 1);
        if (is_call)
            add_work(&callee, &rounds, all);
        else if (sum.is_known)
            *all = sum;
    }
}

const char *hone_extent_work(struct hone_extent *x)
{
    const struct hone_extent_scope s = {.x = x, .d = &x->d};
    const struct hone_poly one = hone_poly_number(1);
    struct hone_poly all = one;
    x->n_evaluated = 0;
    x->depth = 0;
    add_work(&s, &one, &all);
    return hone_extent_text(x, &all);
}

/* ---- operations of floating point ---- */

struct counting {
    struct hone_poly all;
    bool is_unknown;
};

static bool is_one_of(const struct hone_extent_scope *s, size_t i, const char *const *words)
{
    return hone_c_is_any(hone_extent_at(s, i), words);
}

/* Is the word the name of floating-point values: declared so anywhere in the text? */
static bool is_float_name(const struct hone_extent_scope *s, size_t i)
{
    static const char *const types[] = {"float", "double", NULL};
    const struct hone_c_tokens *t = &s->x->t;
    for (size_t k = 1; k < t->n; k++) {
        size_t b = k;
        if (!hone_extent_same(&t->v[k], hone_extent_at(s, i)))
            continue;
        while (b > 0 && !strchr(";{}()", *t->v[b - 1].at) &&
               !(hone_c_is(&t->v[b - 1], ",") && hone_extent_is_type(&t->v[b])))
            b--;
        for (; b < k; b++)
            if (is_one_of(s, b, types))
                return true;
    }
    return false;
}

static bool is_float_literal(const struct hone_c_token *t)
{
    return *t->at >= '0' && *t->at <= '9' && memchr(t->at, '.', t->len) != NULL;
}

/* Does the loop run from one value to another, whatever loops are around it? */
static bool is_exact_loop(const struct hone_extent_scope *s, size_t loop)
{
    size_t close = hone_c_closing(&s->x->t, loop + 1), at = loop + 2;
    for (int part = 0; part < 2; part++) {
        size_t end = at, from = 0;
        while (end < close && !hone_extent_is(s, end, ";"))
            end++;
        for (size_t i = at; i < end && from == 0; i++)
            if (part == 0 ? hone_extent_is(s, i, "=") : hone_extent_is(s, i, "<"))
                from = i + 1 + (part == 1 && hone_extent_is(s, i + 1, "="));
        struct hone_extent_values e = hone_extent_evaluate(s, from, end, loop);
        if (from == 0 || end == close || !e.hi.is_known || !hone_poly_equal(&e.lo, &e.hi))
            return false;
        at = end + 1;
    }
    return true;
}

/* The operators of the statement first..end-1, outside of subscripts, where it has a floating
 * value. A pointer's declaration has none. */
static int64_t operators_in(const struct hone_extent_scope *s, size_t first, size_t end)
{
    bool has_float = false;
    int64_t n = 0;
    for (size_t i = first; i < end; i++) {
        if (hone_extent_is(s, i, "[")) {
            i = hone_c_closing(&s->x->t, i);
            continue;
        }
        const struct hone_c_token *t = hone_extent_at(s, i);
        bool is_sign = t->len == 1 && strchr("+-*/", *t->at) && hone_c_is_binary(&s->x->t, i);
        if (is_sign && hone_extent_is(s, i, "*") && hone_extent_is_type(hone_extent_at(s, i - 1)))
            return 0;
        n += is_sign && !hone_extent_same(t, hone_extent_at(s, i + 1)) &&
             !hone_extent_same(t, hone_extent_at(s, i - 1));
        has_float = has_float || is_float_literal(t) || (hone_c_is_word(t) && is_float_name(s, i));
    }
    return has_float ? n : 0;
}

static void count_operations(struct counting *c, const struct hone_extent_scope *s,
                             const struct hone_poly *times);

/* The call at token i: of a helper, or of what is one instruction. */
static int64_t count_call(struct counting *c, const struct hone_extent_scope *s, size_t i,
                          const struct hone_poly *times)
{
    static const char *const single[] = {"sqrt", "sqrtf", "fabs", "fabsf", "fma", "fmaf",
                                         "fmin", "fminf", "fmax", "fmaxf", NULL};
    struct hone_c_definition d = {.end = s->x->t.n};
    size_t args[2 * HONE_EXTENT_ARGS], n;
    if (is_one_of(s, i, single))
        return 1;
    if (s->n_calls == HONE_EXTENT_CALLS || !hone_extent_callee(s, i + 1, &d, args, &n)) {
        c->is_unknown = true;
        return 0;
    }
    const struct hone_extent_scope callee = {s->x, &d, s, args, n, i, s->n_calls + 1};
    struct hone_poly rounds = hone_extent_rounds(s, i, false);
    rounds = hone_poly_multiply(times, &rounds);
    count_operations(c, &callee, &rounds);
    return 0;
}

static void add_operations(struct counting *c, const struct hone_extent_scope *s, size_t i,
                           int64_t n, const struct hone_poly *times)
{
    struct hone_poly rounds = hone_extent_rounds(s, i, false);
    if (n == 0)
        return;
    rounds = hone_poly_multiply(times, &rounds);
    c->is_unknown = c->is_unknown || !rounds.is_known || has_content(s->x, &rounds);
    c->all = hone_poly_add(&c->all, &rounds, n);
}

static void count_operations(struct counting *c, const struct hone_extent_scope *s,
                             const struct hone_poly *times)
{
    static const char *const conditions[] = {"if",    "while",    "do",   "switch", "?",
                                             "break", "continue", "goto", NULL};
    size_t first = s->d->close + 2;
    for (size_t i = first; i < s->d->end && !c->is_unknown; i++) {
        bool is_call = hone_c_is_word(hone_extent_at(s, i)) && hone_extent_is(s, i + 1, "(") &&
                       !hone_extent_is(s, i, "sizeof") && !hone_extent_is(s, i, "return") &&
                       !hone_extent_is_type(hone_extent_at(s, i));
        if (hone_extent_is(s, i, "for")) {
            c->is_unknown = !is_exact_loop(s, i);
            i = hone_c_closing(&s->x->t, i + 1);
            first = i + 1;
        } else if (is_one_of(s, i, conditions)) {
            c->is_unknown = true;
        } else if (is_call) {
            add_operations(c, s, i, count_call(c, s, i, times), times);
        } else if (strchr(";{}", *hone_extent_at(s, i)->at)) {
            add_operations(c, s, i, operators_in(s, first, i), times);
            first = i + 1;
        }
    }
}

const char *hone_extent_operations(struct hone_extent *x)
{
    const struct hone_extent_scope s = {.x = x, .d = &x->d};
    const struct hone_poly one = hone_poly_number(1);
    struct counting c = {.all = hone_poly_number(0)};
    x->n_evaluated = 0;
    x->depth = 0;
    x->divides = false;
    for (size_t i = 0; i < x->t.n; i++) /* a type's other name would not be seen */
        if (hone_extent_is(&s, i, "typedef"))
            for (size_t k = i; k < x->t.n && !hone_extent_is(&s, k, ";"); k++)
                c.is_unknown = c.is_unknown || hone_extent_is(&s, k, "float") ||
                               hone_extent_is(&s, k, "double");
    count_operations(&c, &s, &one);
    return c.is_unknown || !c.all.is_known || c.all.n == 0 ? NULL : hone_extent_text(x, &c.all);
}

int hone_extent_open(const char *source, const struct hone_prototype *proto,
                     const char *const *names, struct hone_pool *pool, struct hone_extent **ret,
                     struct hone_err *err)
{
    struct hone_extent *x = hone_pool_alloc(pool, sizeof(*x));
    size_t from = 0;
    int code = hone_c_expand(source, pool, &x->t, err);
    if (code < 0)
        return code;
    x->pool = pool;
    x->proto = proto;
    x->params = names;
    for (size_t i = 0; i < proto->n_params; i++)
        if (!proto->params[i].is_pointer && !hone_dtype_is_float(proto->params[i].dtype))
            hone_extent_find(x, names[i], &proto->params[i], false);
    while (hone_c_next_definition(&x->t, &from, &x->d) &&
           !hone_c_is(&x->t.v[x->d.name], proto->name))
        continue;
    *ret = x;
    return 0;
}

const struct hone_extent_name *hone_extent_name(const struct hone_extent *x, int name)
{
    return &x->names[name];
}

struct hone_poly hone_extent_bounded(struct hone_extent *x, const struct hone_poly *p,
                                     const struct hone_param *array, const char *name, int64_t less)
{
    int number = hone_extent_find(x, name, NULL, false);
    struct hone_poly all = hone_poly_number(0), one = hone_poly_number(1), bound = all;
    if (number < 0)
        return (struct hone_poly){.is_known = false};
    bound = hone_poly_name(number);
    bound = hone_poly_add(&bound, &one, -less);
    for (size_t i = 0; i < p->n; i++) {
        struct hone_poly product = hone_poly_number(p->terms[i].factor);
        for (int k = 0; k < p->terms[i].degree; k++) {
            const struct hone_extent_name *own = &x->names[p->terms[i].names[k]];
            struct hone_poly factor = hone_poly_name(p->terms[i].names[k]);
            product = hone_poly_multiply(&product,
                                         own->is_content && own->param == array ? &bound : &factor);
        }
        all = hone_poly_add(&all, &product, 1);
    }
    return all;
}

bool hone_extent_is_unused(const struct hone_extent *x, const char *name)
{
    for (size_t i = x->d.close + 1; i < x->d.end && i < x->t.n; i++)
        if (hone_c_is(&x->t.v[i], name) &&
            !(hone_c_is(&x->t.v[i - 1], ")") && hone_c_is(&x->t.v[i - 2], "void")))
            return false;
    return true;
}

size_t hone_extent_steps(struct hone_extent *x, const char **ret, size_t max)
{
    size_t n = x->n_steps < max ? x->n_steps : max;
    memcpy(ret, x->steps, n * sizeof(*ret));
    return n;
}

/* A grid stands in the text as loops: for (int64_t blockIdx_y = 0; blockIdx_y < E; ...). */
size_t hone_extent_blocks(struct hone_extent *x, const char **ret, size_t max)
{
    const struct hone_extent_scope s = {.x = x, .d = &x->d};
    size_t n = 0;
    x->n_evaluated = 0;
    x->depth = 0;
    for (size_t i = x->d.close; i + 2 < x->d.end && n < max; i++) {
        size_t end = i + 2;
        int64_t number;
        if ((!hone_extent_is(&s, i, "blockIdx_y") && !hone_extent_is(&s, i, "blockIdx_z")) ||
            !hone_extent_is(&s, i + 1, "<"))
            continue;
        while (end < x->d.end && !hone_extent_is(&s, end, ";"))
            end++;
        struct hone_extent_values blocks = hone_extent_evaluate(&s, i + 2, end, i);
        if (blocks.hi.is_known && !hone_poly_is_number(&blocks.hi, &number))
            ret[n++] = hone_extent_text(x, &blocks.hi);
    }
    return n;
}

const char *hone_extent_text(const struct hone_extent *x, const struct hone_poly *p)
{
    const char *text = "";
    for (size_t i = 0; i < p->n; i++) {
        const struct hone_term *t = &p->terms[i];
        int64_t factor = t->factor < 0 ? -t->factor : t->factor;
        const char *sign = t->factor < 0 ? (i ? " - " : "0 - ") : i ? " + " : "";
        const char *words = "";
        for (int k = 0; k < t->degree; k++)
            words = hone_pool_printf(
                x->pool, strchr(x->names[t->names[k]].text, ' ') ? "%s%s(%s)" : "%s%s%s", words,
                k ? "*" : "", x->names[t->names[k]].text);
        text = t->degree == 0 ? hone_pool_printf(x->pool, "%s%s%lld", text, sign, (long long)factor)
               : factor == 1
                   ? hone_pool_printf(x->pool, "%s%s%s", text, sign, words)
                   : hone_pool_printf(x->pool, "%s%s%lld*%s", text, sign, (long long)factor, words);
    }
    return *text ? text : "0";
}

bool hone_extent_is_size(struct hone_extent *x, const char *name)
{
    const struct hone_extent_scope s = {.x = x, .d = &x->d};
    for (size_t i = x->d.close + 1; i < x->d.end && i < x->t.n; i++) {
        bool is_head = hone_extent_is(&s, i, "for") || hone_extent_is(&s, i, "while");
        if (!is_head && !hone_extent_is(&s, i, "["))
            continue;
        size_t open = i + is_head, close = hone_c_closing(&x->t, open);
        for (size_t k = open; k < close; k++)
            if (hone_c_is(hone_extent_at(&s, k), name))
                return true;
    }
    return false;
}
