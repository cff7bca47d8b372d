/* SPDX-License-Identifier: Apache-2.0 */
/* Polynomials that describe subscripts are divided by row lengths, the longest first. */
#include "agents/polyhedral/subscript.h"

#include <stdlib.h>
#include <string.h>

static const struct hone_c_poly one = {.is_known = true, .n = 1, .terms = {{.k = 1}}};

bool hone_poly_is_affine(const struct hone_c_poly *poly)
{
    for (size_t i = 0; i < poly->n; i++)
        if (poly->terms[i].n_factors > 1)
            return false;
    return poly->is_known;
}

static size_t degree(const struct hone_c_poly *p)
{
    size_t most = 0;
    for (size_t i = 0; i < p->n; i++)
        most = p->terms[i].n_factors > most ? p->terms[i].n_factors : most;
    return most;
}

static const struct hone_c_term *lead(const struct hone_c_poly *p)
{
    size_t most = degree(p), i = 0;
    while (p->terms[i].n_factors != most)
        i++;
    return &p->terms[i];
}

/* index = quotient * by + rest */
static bool divide(const struct hone_c_poly *index, const struct hone_c_poly *by,
                   struct hone_c_poly *quotient, struct hone_c_poly *rest)
{
    *quotient = (struct hone_c_poly){.is_known = true};
    *rest = *index;
    for (size_t round = 0; round < 2 * HONE_C_MAX_TERMS; round++) {
        struct hone_c_poly part = {.is_known = true, .n = 1};
        size_t i = 0;
        while (i < rest->n && !hone_c_term_over(&rest->terms[i], lead(by), &part.terms[0]))
            i++;
        if (i == rest->n)
            return quotient->is_known && rest->is_known;
        struct hone_c_poly product = hone_c_poly_product(&part, by);
        *rest = hone_c_poly_sum(rest, &product, -1);
        *quotient = hone_c_poly_sum(quotient, &part, 1);
        if (!rest->is_known || !quotient->is_known)
            return false;
    }
    return false;
}

static bool is_same(const struct hone_c_poly *a, const struct hone_c_poly *b)
{
    struct hone_c_poly difference = hone_c_poly_sum(a, b, -1);
    return difference.is_known && difference.n == 0;
}

static int64_t common_factor(const struct hone_c_poly *p)
{
    int64_t all = 0;
    for (size_t i = 0; i < p->n; i++)
        for (int64_t b = llabs(p->terms[i].k); b != 0;) {
            int64_t next = all % b;
            all = b;
            b = next;
        }
    return lead(p)->k < 0 ? -all : all;
}

/* What stands beside a counter: (W - K + 1) of W*r - K*r + r + c for r. */
static bool factor_of(const struct hone_c_poly *index, const struct hone_c_node *counter,
                      hone_is_counter_fn *is_counter, void *arg, struct hone_c_poly *ret)
{
    *ret = (struct hone_c_poly){.is_known = true};
    for (size_t i = 0; i < index->n; i++) {
        const struct hone_c_term *t = &index->terms[i];
        struct hone_c_poly part = {.is_known = true, .n = 1, .terms = {{.k = t->k}}};
        size_t n_counters = 0;
        bool is_its = false;
        for (size_t f = 0; f < t->n_factors; f++) {
            if (t->factors[f].decl && is_counter(t->factors[f].decl, arg)) {
                n_counters++;
                is_its = is_its || t->factors[f].decl == counter;
            } else {
                part.terms[0].factors[part.terms[0].n_factors++] = t->factors[f];
            }
        }
        if (n_counters > 1)
            return false;
        if (is_its)
            *ret = hone_c_poly_sum(ret, &part, 1);
    }
    if (!ret->is_known || ret->n == 0)
        return false;
    int64_t all = common_factor(ret);
    for (size_t i = 0; i < ret->n; i++)
        ret->terms[i].k /= all;
    return true;
}

static bool add_pitch(struct hone_subscript_rows *rows, const struct hone_c_poly *pitch)
{
    for (size_t i = 0; i < rows->n_dims; i++)
        if (is_same(&rows->pitch[i], pitch))
            return true;
    if (rows->n_dims == HONE_SUBSCRIPT_MAX_DIMS)
        return false;
    size_t at = rows->n_dims++;
    while (at > 0 && degree(&rows->pitch[at - 1]) < degree(pitch)) {
        rows->pitch[at] = rows->pitch[at - 1];
        at--;
    }
    rows->pitch[at] = *pitch;
    return true;
}

/* Row lengths are single products (N) or, with is_sum, sums of them (W - K + 1). */
static bool add_pitches(struct hone_subscript_rows *rows, const struct hone_c_poly *index,
                        bool is_sum, hone_is_counter_fn *is_counter, void *arg)
{
    for (size_t i = 0; i < index->n; i++) {
        const struct hone_c_term *t = &index->terms[i];
        for (size_t f = 0; f < t->n_factors; f++) {
            struct hone_c_poly pitch, alone = {.is_known = true, .n = 1, .terms = {*t}};
            const struct hone_c_node *decl = t->factors[f].decl;
            if (!decl || !is_counter(decl, arg))
                continue;
            if (!factor_of(is_sum ? index : &alone, decl, is_counter, arg, &pitch) ||
                !add_pitch(rows, &pitch))
                return false;
        }
    }
    return true;
}

static bool rows_of(const struct hone_c_poly *const *index, size_t n, bool is_sum,
                    hone_is_counter_fn *is_counter, void *arg, struct hone_subscript_rows *ret)
{
    *ret = (struct hone_subscript_rows){.n_dims = 1, .pitch = {one}};
    for (size_t a = 0; a < n; a++)
        if (!add_pitches(ret, index[a], is_sum, is_counter, arg))
            return false;
    for (size_t d = 1; d < ret->n_dims; d++) {
        struct hone_c_poly rest;
        if (!divide(&ret->pitch[d - 1], &ret->pitch[d], &ret->size[d], &rest) || rest.n != 0 ||
            !hone_poly_is_affine(&ret->size[d]))
            return false;
    }
    return true;
}

bool hone_subscript_rows(const struct hone_c_poly *const *index, size_t n,
                         hone_is_counter_fn *is_counter, void *arg, struct hone_subscript_rows *ret)
{
    return rows_of(index, n, false, is_counter, arg, ret) ||
           rows_of(index, n, true, is_counter, arg, ret);
}

bool hone_subscript_split(const struct hone_c_poly *index, const struct hone_subscript_rows *rows,
                          struct hone_c_poly ret[HONE_SUBSCRIPT_MAX_DIMS])
{
    struct hone_c_poly rest = *index;
    bool is_good = index->is_known;
    for (size_t d = 0; is_good && d + 1 < rows->n_dims; d++) {
        struct hone_c_poly whole = rest;
        is_good = divide(&whole, &rows->pitch[d], &ret[d], &rest) && hone_poly_is_affine(&ret[d]);
    }
    ret[rows->n_dims - 1] = rest;
    return is_good && hone_poly_is_affine(&rest);
}
