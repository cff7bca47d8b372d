/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of products of sizes, such as n*m - n + 2: what subscripts come to. A size is a number into
 * a list of names that the caller keeps. */
#ifndef HONE_TOOLS_SIZE_POLY_H
#define HONE_TOOLS_SIZE_POLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HONE_POLY_TERMS = 32, HONE_POLY_DEGREE = 6 };

struct hone_term {
    int64_t factor;
    int degree;
    int names[HONE_POLY_DEGREE]; /* in the order in which they were multiplied */
};

struct hone_poly { /* all zero: not known */
    bool is_known;
    size_t n;
    struct hone_term terms[HONE_POLY_TERMS]; /* no two of the same names, no factor 0 */
};

struct hone_poly hone_poly_number(int64_t value);
struct hone_poly hone_poly_name(int name);
/* a + factor * b, a * b: not known where one of them is not, or where it is too long. */
struct hone_poly hone_poly_add(const struct hone_poly *a, const struct hone_poly *b,
                               int64_t factor);
struct hone_poly hone_poly_multiply(const struct hone_poly *a, const struct hone_poly *b);
bool hone_poly_is_number(const struct hone_poly *p, int64_t *ret);
bool hone_poly_equal(const struct hone_poly *a, const struct hone_poly *b);
/* Is a at least b for large sizes, whichever of them is the larger? Both known. */
bool hone_poly_covers(const struct hone_poly *a, const struct hone_poly *b);

#endif
