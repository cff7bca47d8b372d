/* SPDX-License-Identifier: Apache-2.0 */
/* The condition of a tune pragma: a recursive descent over 64-bit integers.
 *
 * One function per precedence class would be ten functions of the same shape; a table of binary
 * operators and a climbing loop does it in one. Every operation is checked, so that no text can
 * overflow, divide by zero or recurse deeper than HONE_LIMIT_EXPR_DEPTH. */
#include "tools/format/options.h"

#include "workspace/base/limits.h"

#include <ctype.h>
#include <string.h>

struct parser {
    const char *at;
    const struct hone_tunable *values;
    size_t n_values;
    int depth;
    struct hone_err *err;
};

enum op {
    OP_OR,
    OP_AND,
    OP_EQ,
    OP_NE,
    OP_LE,
    OP_GE,
    OP_LT,
    OP_GT,
    OP_ADD,
    OP_SUB,
    OP_MUL,
    OP_DIV,
    OP_MOD
};

/* Two-character operators stand before their one-character beginnings. */
static const struct {
    const char *text;
    enum op op;
    int precedence;
} ops[] = {
    {"||", OP_OR, 1}, {"&&", OP_AND, 2}, {"==", OP_EQ, 3}, {"!=", OP_NE, 3}, {"<=", OP_LE, 4},
    {">=", OP_GE, 4}, {"<", OP_LT, 4},   {">", OP_GT, 4},  {"+", OP_ADD, 5}, {"-", OP_SUB, 5},
    {"*", OP_MUL, 6}, {"/", OP_DIV, 6},  {"%", OP_MOD, 6},
};

static int parse_binary(struct parser *p, int least, int64_t *ret);

static void skip_space(struct parser *p)
{
    while (isspace((unsigned char)*p->at) || *p->at == '\\')
        p->at++;
}

static int parse_number(struct parser *p, int64_t *ret)
{
    int64_t value = 0;

    for (; isdigit((unsigned char)*p->at); p->at++)
        if (__builtin_mul_overflow(value, (int64_t)10, &value) ||
            __builtin_add_overflow(value, (int64_t)(*p->at - '0'), &value))
            return hone_fail(p->err, HONE_E_ARG, "a number in where() is too large");
    *ret = value;
    return 0;
}

static int parse_name(struct parser *p, int64_t *ret)
{
    const char *start = p->at;
    size_t len;

    while (isalnum((unsigned char)*p->at) || *p->at == '_')
        p->at++;
    len = (size_t)(p->at - start);
    for (size_t i = 0; i < p->n_values; i++) {
        if (strlen(p->values[i].name) == len && memcmp(p->values[i].name, start, len) == 0) {
            *ret = p->values[i].value;
            return 0;
        }
    }
    return hone_fail(p->err, HONE_E_ARG, "'%.*s' in where() is not a tunable",
                     (int)(len > 60 ? 60 : len), start);
}

static int parse_unary(struct parser *p, int64_t *ret)
{
    int64_t value;
    char sign;
    int rc;

    skip_space(p);
    if (isdigit((unsigned char)*p->at))
        return parse_number(p, ret);
    if (isalpha((unsigned char)*p->at) || *p->at == '_')
        return parse_name(p, ret);
    sign = *p->at;
    if (sign != '(' && sign != '!' && sign != '-')
        return hone_fail(p->err, HONE_E_ARG,
                         "where() expects a number, a tunable or '(' at '%.20s'", p->at);
    if (++p->depth > HONE_LIMIT_EXPR_DEPTH)
        return hone_fail(p->err, HONE_E_ARG, "where() is nested deeper than %d",
                         HONE_LIMIT_EXPR_DEPTH);
    p->at++;
    rc = sign == '(' ? parse_binary(p, 1, &value) : parse_unary(p, &value);
    if (rc < 0)
        return rc;
    p->depth--;
    if (sign == '(') {
        skip_space(p);
        if (*p->at != ')')
            return hone_fail(p->err, HONE_E_ARG, "where() lacks a ')' at '%.20s'", p->at);
        p->at++;
    } else if (sign == '!') {
        value = value == 0;
    } else if (__builtin_sub_overflow((int64_t)0, value, &value)) {
        return hone_fail(p->err, HONE_E_ARG, "where() overflows");
    }
    *ret = value;
    return 0;
}

static int apply(struct parser *p, enum op op, int64_t a, int64_t b, int64_t *ret)
{
    bool has_overflow = false;

    switch (op) {
    case OP_OR:
        *ret = a != 0 || b != 0;
        break;
    case OP_AND:
        *ret = a != 0 && b != 0;
        break;
    case OP_EQ:
        *ret = a == b;
        break;
    case OP_NE:
        *ret = a != b;
        break;
    case OP_LE:
        *ret = a <= b;
        break;
    case OP_GE:
        *ret = a >= b;
        break;
    case OP_LT:
        *ret = a < b;
        break;
    case OP_GT:
        *ret = a > b;
        break;
    case OP_ADD:
        has_overflow = __builtin_add_overflow(a, b, ret);
        break;
    case OP_SUB:
        has_overflow = __builtin_sub_overflow(a, b, ret);
        break;
    case OP_MUL:
        has_overflow = __builtin_mul_overflow(a, b, ret);
        break;
    case OP_DIV:
    case OP_MOD:
        if (b == 0 || (a == INT64_MIN && b == -1))
            return hone_fail(p->err, HONE_E_ARG, "where() divides by zero");
        *ret = op == OP_DIV ? a / b : a % b;
        break;
    }
    return has_overflow ? hone_fail(p->err, HONE_E_ARG, "where() overflows") : 0;
}

static int parse_binary(struct parser *p, int least, int64_t *ret)
{
    int64_t left, right;
    int rc = parse_unary(p, &left);

    while (rc == 0) {
        size_t i = 0;
        skip_space(p);
        while (i < HONE_COUNTOF(ops) && strncmp(p->at, ops[i].text, strlen(ops[i].text)) != 0)
            i++;
        if (i == HONE_COUNTOF(ops) || ops[i].precedence < least)
            break;
        p->at += strlen(ops[i].text);
        rc = parse_binary(p, ops[i].precedence + 1, &right);
        if (rc == 0)
            rc = apply(p, ops[i].op, left, right, &left);
    }
    if (rc == 0)
        *ret = left;
    return rc;
}

int hone_where_eval(const char *expr, const struct hone_tunable *values, size_t n_values,
                    int64_t *ret_value, struct hone_err *err)
{
    struct parser p = {.at = expr, .values = values, .n_values = n_values, .err = err};
    int64_t value;
    int rc;

    if (strlen(expr) > HONE_LIMIT_EXPR_BYTES * HONE_LIMIT_TUNABLES)
        return hone_fail(err, HONE_E_LIMIT, "where() is longer than %d bytes",
                         HONE_LIMIT_EXPR_BYTES);
    rc = parse_binary(&p, 1, &value);
    if (rc < 0)
        return rc;
    skip_space(&p);
    if (*p.at != '\0')
        return hone_fail(err, HONE_E_ARG, "where() has something odd at '%.20s'", p.at);
    *ret_value = value;
    return 0;
}
