/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/task/size_poly.h"

#include <string.h>

struct hone_poly hone_poly_number(int64_t value)
{
    struct hone_poly p = {.is_known = true, .n = value != 0};
    p.terms[0].factor = value;
    return p;
}

struct hone_poly hone_poly_name(int name)
{
    struct hone_poly p = hone_poly_number(1);
    p.terms[0].degree = 1;
    p.terms[0].names[0] = name;
    return p;
}

static bool has_same_names(const struct hone_term *a, const struct hone_term *b)
{
    bool is_used[HONE_POLY_DEGREE] = {false};
    int found = 0;
    for (int i = 0; i < a->degree; i++)
        for (int k = 0; k < b->degree; k++)
            if (!is_used[k] && a->names[i] == b->names[k]) {
                is_used[k] = true;
                found++;
                break;
            }
    return a->degree == b->degree && found == a->degree;
}

static void add_term(struct hone_poly *p, const struct hone_term *term)
{
    for (size_t i = 0; p->is_known && i < p->n; i++) {
        if (!has_same_names(&p->terms[i], term))
            continue;
        if (__builtin_add_overflow(p->terms[i].factor, term->factor, &p->terms[i].factor))
            p->is_known = false;
        if (p->terms[i].factor == 0) {
            p->n--;
            memmove(&p->terms[i], &p->terms[i + 1], (p->n - i) * sizeof(p->terms[0]));
        }
        return;
    }
    if (p->n == HONE_POLY_TERMS)
        p->is_known = false;
    if (p->is_known && term->factor != 0)
        p->terms[p->n++] = *term;
}

struct hone_poly hone_poly_add(const struct hone_poly *a, const struct hone_poly *b, int64_t factor)
{
    struct hone_poly p = *a;
    p.is_known = a->is_known && b->is_known;
    for (size_t i = 0; p.is_known && i < b->n; i++) {
        struct hone_term term = b->terms[i];
        if (__builtin_mul_overflow(term.factor, factor, &term.factor))
            p.is_known = false;
        add_term(&p, &term);
    }
    return p;
}

struct hone_poly hone_poly_multiply(const struct hone_poly *a, const struct hone_poly *b)
{
    struct hone_poly p = {.is_known = a->is_known && b->is_known};
    for (size_t i = 0; p.is_known && i < a->n; i++) {
        for (size_t k = 0; p.is_known && k < b->n; k++) {
            struct hone_term term = a->terms[i];
            const struct hone_term *other = &b->terms[k];
            if (term.degree + other->degree > HONE_POLY_DEGREE ||
                __builtin_mul_overflow(term.factor, other->factor, &term.factor)) {
                p.is_known = false;
                break;
            }
            memcpy(term.names + term.degree, other->names,
                   (size_t)other->degree * sizeof(term.names[0]));
            term.degree += other->degree;
            add_term(&p, &term);
        }
    }
    return p;
}

bool hone_poly_is_number(const struct hone_poly *p, int64_t *ret)
{
    if (!p->is_known || p->n > 1 || (p->n == 1 && p->terms[0].degree > 0))
        return false;
    *ret = p->n == 0 ? 0 : p->terms[0].factor;
    return true;
}

bool hone_poly_equal(const struct hone_poly *a, const struct hone_poly *b)
{
    struct hone_poly rest = hone_poly_add(a, b, -1);
    return rest.is_known && rest.n == 0;
}

/* With sizes that grow, or fall, from name to name. */
static double value_of(const struct hone_poly *p, bool is_falling)
{
    double sum = 0;
    for (size_t i = 0; i < p->n; i++) {
        double product = (double)p->terms[i].factor;
        for (int k = 0; k < p->terms[i].degree; k++)
            product *= is_falling ? 9001 - 131.0 * p->terms[i].names[k]
                                  : 1009 + 127.0 * p->terms[i].names[k];
        sum += product;
    }
    return sum;
}

bool hone_poly_covers(const struct hone_poly *a, const struct hone_poly *b)
{
    struct hone_poly rest = hone_poly_add(a, b, -1);
    return rest.is_known && value_of(&rest, false) >= 0 && value_of(&rest, true) >= 0;
}
