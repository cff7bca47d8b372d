/* SPDX-License-Identifier: Apache-2.0 */
/* Formulas over axis names: axis sizes, constraints, flops, bytes, oracle items.
 *
 * Python's meaning where Python has one: + - * / // % **, parentheses, comparisons (a < b < c
 * chains), and or not (also && || !), min max ceil floor log2 sqrt abs. Numbers are exact
 * 64-bit integers until a real appears ("/", 1.5, sqrt, log2) or a result no longer fits; true
 * is 1, false is 0. `and` and `or` do not look at the second operand's arithmetic errors when
 * the first decides.
 *
 * Text is at most HONE_LIMIT_EXPR_BYTES long and HONE_LIMIT_EXPR_DEPTH deep. Every error names the
 * column. Pure functions; any thread; no allocation. */
#ifndef HONE_TASK_EXPR_H
#define HONE_TASK_EXPR_H

#include "workspace/base/err.h"

struct hone_expr_value {
    bool is_int;
    int64_t i; /* when is_int */
    double f;  /* always set */
};

struct hone_expr_name {
    const char *name;
    int64_t value;
};

/* HONE_E_ARG (syntax, unknown name, division by zero, not finite) or HONE_E_LIMIT. */
int hone_expr_eval(const char *text, const struct hone_expr_name *names, size_t n_names,
                   struct hone_expr_value *ret, struct hone_err *err);
/* Syntax and names only: what would depend on values (division by zero...) is not an error. */
int hone_expr_check(const char *text, const struct hone_expr_name *names, size_t n_names,
                    struct hone_err *err);

#endif
