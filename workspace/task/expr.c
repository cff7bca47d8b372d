/* SPDX-License-Identifier: Apache-2.0 */
/* One-pass recursive descent: parses and evaluates together, so there is no tree to own or to free.
 *
 * `quiet` above zero means that values do not matter (checking, or the side of and/or that was
 * already decided): syntax and names are still checked, arithmetic errors are not reported and
 * give 1. */
#include "workspace/task/expr.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "workspace/base/limits.h"

struct parser {
    const char *text;
    const char *at;
    const struct hone_expr_name *names;
    size_t n_names;
    int depth;
    int quiet;
    struct hone_err *err;
};

static int parse_or(struct parser *p, struct hone_expr_value *ret);

static int column(const struct parser *p)
{
    return (int)(p->at - p->text) + 1;
}

static struct hone_expr_value of_int(int64_t i)
{
    return (struct hone_expr_value){.is_int = true, .i = i, .f = (double)i};
}

static struct hone_expr_value of_real(double f)
{
    return (struct hone_expr_value){.is_int = false, .f = f};
}

static bool is_true(const struct hone_expr_value *v)
{
    return v->is_int ? v->i != 0 : v->f != 0;
}

/* An error of values, not of text: silent where values do not matter. */
static int bad_value(struct parser *p, const char *what, struct hone_expr_value *ret)
{
    if (p->quiet > 0) {
        *ret = of_int(1);
        return 0;
    }
    return hone_fail(p->err, HONE_E_ARG, "column %d of \"%s\": %s", column(p), p->text, what);
}

static int finish_real(struct parser *p, double f, struct hone_expr_value *ret)
{
    if (!isfinite(f))
        return bad_value(p, "the result is not a finite number", ret);
    *ret = of_real(f);
    return 0;
}

static void skip_space(struct parser *p)
{
    while (*p->at == ' ' || *p->at == '\t')
        p->at++;
}

static bool is_word_char(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Takes an operator or a whole word. Callers list longer operators first. */
static bool take(struct parser *p, const char *token)
{
    skip_space(p);
    size_t len = strlen(token);
    if (strncmp(p->at, token, len) != 0)
        return false;
    if (is_word_char(token[0]) && is_word_char(p->at[len]))
        return false;
    p->at += len;
    return true;
}

static int enter(struct parser *p)
{
    if (++p->depth > HONE_LIMIT_EXPR_DEPTH)
        return hone_fail(p->err, HONE_E_LIMIT, "column %d: formula nests deeper than %d", column(p),
                         HONE_LIMIT_EXPR_DEPTH);
    return 0;
}

static int int_pow(struct parser *p, int64_t base, int64_t exponent, struct hone_expr_value *ret)
{
    int64_t result = 1, factor = base;
    for (int64_t e = exponent; e > 0; e >>= 1) {
        if ((e & 1) && __builtin_mul_overflow(result, factor, &result))
            return finish_real(p, pow((double)base, (double)exponent), ret);
        if (e > 1 && __builtin_mul_overflow(factor, factor, &factor))
            return finish_real(p, pow((double)base, (double)exponent), ret);
    }
    *ret = of_int(result);
    return 0;
}

static int floor_div(struct parser *p, char op, const struct hone_expr_value *a,
                     const struct hone_expr_value *b, struct hone_expr_value *ret)
{
    if (!is_true(b))
        return bad_value(p, op == '%' ? "remainder of a division by zero" : "division by zero",
                         ret);
    if (!a->is_int || !b->is_int) {
        double q = floor(a->f / b->f);
        return finish_real(p, op == '%' ? a->f - q * b->f : q, ret);
    }
    if (b->i == -1) /* INT64_MIN / -1 traps */
        return op == '%'           ? (*ret = of_int(0), 0)
               : a->i == INT64_MIN ? finish_real(p, -a->f, ret)
                                   : (*ret = of_int(-a->i), 0);
    int64_t q = a->i / b->i, r = a->i % b->i;
    if (r != 0 && (r < 0) != (b->i < 0)) {
        q--;
        r += b->i;
    }
    *ret = of_int(op == '%' ? r : q);
    return 0;
}

/* op: + - * / and D for the floor division, % for the remainder, P for the power. */
static int apply(struct parser *p, char op, const struct hone_expr_value *a,
                 const struct hone_expr_value *b, struct hone_expr_value *ret)
{
    bool both_int = a->is_int && b->is_int;
    int64_t i = 0;
    switch (op) {
    case '+':
        if (both_int && !__builtin_add_overflow(a->i, b->i, &i))
            return *ret = of_int(i), 0;
        return finish_real(p, a->f + b->f, ret);
    case '-':
        if (both_int && !__builtin_sub_overflow(a->i, b->i, &i))
            return *ret = of_int(i), 0;
        return finish_real(p, a->f - b->f, ret);
    case '*':
        if (both_int && !__builtin_mul_overflow(a->i, b->i, &i))
            return *ret = of_int(i), 0;
        return finish_real(p, a->f * b->f, ret);
    case '/':
        if (!is_true(b))
            return bad_value(p, "division by zero", ret);
        return finish_real(p, a->f / b->f, ret);
    case 'P':
        if (both_int && b->i >= 0)
            return int_pow(p, a->i, b->i, ret);
        return finish_real(p, pow(a->f, b->f), ret);
    default:
        return floor_div(p, op, a, b, ret);
    }
}

enum function { FN_MIN, FN_MAX, FN_CEIL, FN_FLOOR, FN_LOG2, FN_SQRT, FN_ABS };
static const struct {
    const char *name;
    bool takes_many;
} functions[] = {
    [FN_MIN] = {"min", true},      [FN_MAX] = {"max", true},    [FN_CEIL] = {"ceil", false},
    [FN_FLOOR] = {"floor", false}, [FN_LOG2] = {"log2", false}, [FN_SQRT] = {"sqrt", false},
    [FN_ABS] = {"abs", false},
};

static int round_to_int(struct parser *p, double f, struct hone_expr_value *ret)
{
    if (fabs(f) < 9.0e18)
        return *ret = of_int((int64_t)f), 0;
    return finish_real(p, f, ret);
}

static int call_one(struct parser *p, enum function fn, const struct hone_expr_value *arg,
                    struct hone_expr_value *ret)
{
    switch (fn) {
    case FN_CEIL:
        return arg->is_int ? (*ret = *arg, 0) : round_to_int(p, ceil(arg->f), ret);
    case FN_FLOOR:
        return arg->is_int ? (*ret = *arg, 0) : round_to_int(p, floor(arg->f), ret);
    case FN_LOG2:
        if (arg->f <= 0)
            return bad_value(p, "log2 of a number that is not positive", ret);
        return finish_real(p, log2(arg->f), ret);
    case FN_SQRT:
        if (arg->f < 0)
            return bad_value(p, "square root of a negative number", ret);
        return finish_real(p, sqrt(arg->f), ret);
    case FN_ABS:
        if (arg->is_int && arg->i != INT64_MIN)
            return *ret = of_int(arg->i < 0 ? -arg->i : arg->i), 0;
        return finish_real(p, fabs(arg->f), ret);
    case FN_MIN:
    case FN_MAX:
        break;
    }
    *ret = *arg;
    return 0;
}

static int parse_call(struct parser *p, enum function fn, struct hone_expr_value *ret)
{
    struct hone_expr_value best, arg;
    if (!take(p, "("))
        return hone_fail(p->err, HONE_E_ARG, "column %d of \"%s\": %s needs ( and its argument",
                         column(p), p->text, functions[fn].name);
    int code = parse_or(p, &best);
    if (code < 0)
        return code;
    while (functions[fn].takes_many && take(p, ",")) {
        if ((code = parse_or(p, &arg)) < 0)
            return code;
        if (fn == FN_MIN ? arg.f < best.f : arg.f > best.f)
            best = arg;
    }
    if (!take(p, ")"))
        return hone_fail(p->err, HONE_E_ARG,
                         "column %d of \"%s\": ) is missing after the argument of %s", column(p),
                         p->text, functions[fn].name);
    return call_one(p, fn, &best, ret);
}

static int parse_word(struct parser *p, struct hone_expr_value *ret)
{
    const char *start = p->at;
    while (is_word_char(*p->at))
        p->at++;
    size_t len = (size_t)(p->at - start);
    for (size_t i = 0; i < HONE_COUNTOF(functions); i++)
        if (strlen(functions[i].name) == len && memcmp(functions[i].name, start, len) == 0)
            return parse_call(p, (enum function)i, ret);
    for (size_t i = 0; i < p->n_names; i++) {
        if (strlen(p->names[i].name) == len && memcmp(p->names[i].name, start, len) == 0) {
            *ret = of_int(p->names[i].value);
            return 0;
        }
    }
    p->at = start;
    return hone_fail(p->err, HONE_E_ARG, "column %d of \"%s\": no axis or function is named '%.*s'",
                     column(p), p->text, (int)len, start);
}

static int parse_number(struct parser *p, struct hone_expr_value *ret)
{
    const char *start = p->at;
    int64_t whole = 0;
    bool fits = true;
    for (; isdigit((unsigned char)*p->at); p->at++)
        if (__builtin_mul_overflow(whole, 10, &whole) ||
            __builtin_add_overflow(whole, *p->at - '0', &whole))
            fits = false;
    bool is_real = *p->at == '.' || *p->at == 'e' || *p->at == 'E';
    if (fits && !is_real) {
        if (is_word_char(*p->at))
            return hone_fail(p->err, HONE_E_ARG, "column %d of \"%s\": a letter follows a number",
                             column(p), p->text);
        *ret = of_int(whole);
        return 0;
    }
    char *end = NULL;
    double f = strtod(start, &end);
    p->at = end > start ? end : start + 1;
    if (is_word_char(*p->at) || *p->at == '.')
        return hone_fail(p->err, HONE_E_ARG, "column %d of \"%s\": not a number", column(p),
                         p->text);
    return finish_real(p, f, ret);
}

static int parse_atom(struct parser *p, struct hone_expr_value *ret)
{
    skip_space(p);
    if (isdigit((unsigned char)*p->at) || (*p->at == '.' && isdigit((unsigned char)p->at[1])))
        return parse_number(p, ret);
    if (is_word_char(*p->at))
        return parse_word(p, ret);
    if (take(p, "(")) {
        int code = parse_or(p, ret);
        if (code < 0)
            return code;
        if (!take(p, ")"))
            return hone_fail(p->err, HONE_E_ARG, "column %d of \"%s\": ) is missing", column(p),
                             p->text);
        return 0;
    }
    if (*p->at == '\0')
        return hone_fail(p->err, HONE_E_ARG,
                         "column %d of \"%s\": a number, axis or ( should follow", column(p),
                         p->text);
    return hone_fail(p->err, HONE_E_ARG, "column %d of \"%s\": unexpected character '%c'",
                     column(p), p->text, isprint((unsigned char)*p->at) ? *p->at : '?');
}

static int parse_unary(struct parser *p, struct hone_expr_value *ret)
{
    int code = enter(p);
    if (code < 0)
        return code;
    if (take(p, "-")) {
        struct hone_expr_value arg, zero = of_int(0);
        if ((code = parse_unary(p, &arg)) == 0)
            code = apply(p, '-', &zero, &arg, ret);
    } else if (take(p, "+")) {
        code = parse_unary(p, ret);
    } else if ((code = parse_atom(p, ret)) == 0 && take(p, "**")) {
        struct hone_expr_value base = *ret, exponent;
        if ((code = parse_unary(p, &exponent)) == 0)
            code = apply(p, 'P', &base, &exponent, ret);
    }
    p->depth--;
    return code;
}

static int parse_product(struct parser *p, struct hone_expr_value *ret)
{
    int code = parse_unary(p, ret);
    while (code == 0) {
        char op = take(p, "//")  ? 'D'
                  : take(p, "*") ? '*'
                  : take(p, "/") ? '/'
                  : take(p, "%") ? '%'
                                 : 0;
        if (op == 0)
            return 0;
        struct hone_expr_value left = *ret, right;
        if ((code = parse_unary(p, &right)) == 0)
            code = apply(p, op, &left, &right, ret);
    }
    return code;
}

static int parse_sum(struct parser *p, struct hone_expr_value *ret)
{
    int code = parse_product(p, ret);
    while (code == 0) {
        char op = take(p, "+") ? '+' : take(p, "-") ? '-' : 0;
        if (op == 0)
            return 0;
        struct hone_expr_value left = *ret, right;
        if ((code = parse_product(p, &right)) == 0)
            code = apply(p, op, &left, &right, ret);
    }
    return code;
}

static bool compare(const char *op, const struct hone_expr_value *a,
                    const struct hone_expr_value *b)
{
    int order =
        a->is_int && b->is_int ? (a->i > b->i) - (a->i < b->i) : (a->f > b->f) - (a->f < b->f);
    switch (op[0]) {
    case '<':
        return op[1] ? order <= 0 : order < 0;
    case '>':
        return op[1] ? order >= 0 : order > 0;
    case '!':
        return order != 0;
    default:
        return order == 0;
    }
}

static int parse_comparison(struct parser *p, struct hone_expr_value *ret)
{
    static const char *const ops[] = {"<=", ">=", "==", "!=", "<", ">"};
    struct hone_expr_value left, right;
    int code = parse_sum(p, &left);
    if (code < 0)
        return code;
    bool has_op = false, holds = true;
    for (;;) {
        const char *op = NULL;
        for (size_t i = 0; i < HONE_COUNTOF(ops) && !op; i++)
            if (take(p, ops[i]))
                op = ops[i];
        if (!op)
            break;
        if ((code = parse_sum(p, &right)) < 0)
            return code;
        has_op = true;
        holds = holds && compare(op, &left, &right);
        left = right;
    }
    *ret = has_op ? of_int(holds) : left;
    return 0;
}

static int parse_not(struct parser *p, struct hone_expr_value *ret)
{
    skip_space(p);
    bool is_bang = p->at[0] == '!' && p->at[1] != '=';
    if (!is_bang && !take(p, "not"))
        return parse_comparison(p, ret);
    p->at += is_bang;
    int code = enter(p);
    if (code == 0)
        code = parse_not(p, ret);
    if (code == 0)
        *ret = of_int(!is_true(ret));
    p->depth--;
    return code;
}

static int parse_and(struct parser *p, struct hone_expr_value *ret)
{
    int code = parse_not(p, ret);
    while (code == 0 && (take(p, "and") || take(p, "&&"))) {
        bool left = is_true(ret);
        p->quiet += !left;
        code = parse_not(p, ret);
        p->quiet -= !left;
        if (code == 0)
            *ret = of_int(left && is_true(ret));
    }
    return code;
}

static int parse_or(struct parser *p, struct hone_expr_value *ret)
{
    int code = parse_and(p, ret);
    while (code == 0 && (take(p, "or") || take(p, "||"))) {
        bool left = is_true(ret);
        p->quiet += left;
        code = parse_and(p, ret);
        p->quiet -= left;
        if (code == 0)
            *ret = of_int(left || is_true(ret));
    }
    return code;
}

static int run(const char *text, const struct hone_expr_name *names, size_t n_names, bool is_check,
               struct hone_expr_value *ret, struct hone_err *err)
{
    if (strnlen(text, HONE_LIMIT_EXPR_BYTES + 1) > HONE_LIMIT_EXPR_BYTES)
        return hone_fail(err, HONE_E_LIMIT, "formula is longer than %d bytes",
                         HONE_LIMIT_EXPR_BYTES);
    struct parser p = {.text = text,
                       .at = text,
                       .names = names,
                       .n_names = n_names,
                       .quiet = is_check,
                       .err = err};
    struct hone_expr_value result;
    int code = parse_or(&p, &result);
    if (code < 0)
        return code;
    skip_space(&p);
    if (*p.at != '\0')
        return hone_fail(err, HONE_E_ARG, "column %d of \"%s\": the formula ended before this",
                         column(&p), text);
    *ret = result;
    return 0;
}

int hone_expr_eval(const char *text, const struct hone_expr_name *names, size_t n_names,
                   struct hone_expr_value *ret, struct hone_err *err)
{
    return run(text, names, n_names, false, ret, err);
}

int hone_expr_check(const char *text, const struct hone_expr_name *names, size_t n_names,
                    struct hone_err *err)
{
    struct hone_expr_value unused;
    return run(text, names, n_names, true, &unused, err);
}
