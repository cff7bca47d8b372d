/* SPDX-License-Identifier: Apache-2.0 */
/* Formulas: values, exactness, positions of errors, hostile text. */
#include <math.h>
#include <string.h>
#include "tests/unit/unit.h"
#include "workspace/base/limits.h"
#include "workspace/task/expr.h"

static const struct hone_expr_name names[] = {{"M", 512}, {"N", 7}, {"big", INT64_MAX}, {"Z", 0}};

START_TEST(values)
{
    static const struct {
        const char *text;
        double want;
        bool is_int;
    } table[] = {
        {"2*M*N", 7168, true},
        {"M + 1", 513, true},
        {"7 // 2", 3, true},
        {"-7 // 2", -4, true},
        {"-7 % 3", 2, true},
        {"7 % -3", -2, true},
        {"7.5 // 2", 3, false},
        {"7 / 2", 3.5, false},
        {"2 ** 10", 1024, true},
        {"2 ** -1", 0.5, false},
        {"-2 ** 2", -4, true},
        {"2 ** 3 ** 2", 512, true},
        {"(1 + 2) * 3", 9, true},
        {"min(M, N, 3)", 3, true},
        {"max(M, N)", 512, true},
        {"ceil(M / 100)", 6, true},
        {"floor(M / 100)", 5, true},
        {"log2(M)", 9, false},
        {"sqrt(49)", 7, false},
        {"abs(-N)", 7, true},
        {"1 < N <= 7", 1, true},
        {"1 < N < 7", 0, true},
        {"M == 512 and N != 7 or not Z", 1, true},
        {"M == 512 && N != 7 || !Z", 1, true},
        {"Z != 0 and M // Z > 1", 0, true},
        {"Z == 0 or M % Z == 0", 1, true},
        {"notM", NAN, false}, /* one word, no axis: an error */
        {"1.5e2", 150, false},
        {"big * 2", 18446744073709551614.0, false},
        {"big + 0", 9223372036854775807.0, true},
        {" ( M ) ", 512, true},
    };
    for (size_t i = 0; i < HONE_COUNTOF(table); i++) {
        struct hone_expr_value got;
        struct hone_err err = HONE_ERR_INIT;
        int code = hone_expr_eval(table[i].text, names, HONE_COUNTOF(names), &got, &err);
        if (isnan(table[i].want)) {
            ck_assert_int_eq(code, HONE_E_ARG);
            continue;
        }
        ck_assert_msg(code == 0, "%s: %s", table[i].text, err.message);
        ck_assert_msg(got.f == table[i].want && got.is_int == table[i].is_int, "%s = %g",
                      table[i].text, got.f);
    }
}
END_TEST

START_TEST(errors_name_the_column)
{
    static const struct {
        const char *text, *want;
    } table[] = {
        {"", "column 1"},
        {"M +", "column 4"},
        {"M $ 2", "column 3"},
        {"Q + 1", "no axis or function is named 'Q'"},
        {"(M", ") is missing"},
        {"min(M", ") is missing"},
        {"min M", "needs ("},
        {"M / Z", "division by zero"},
        {"M // Z", "division by zero"},
        {"M % Z", "division by zero"},
        {"log2(Z)", "not positive"},
        {"sqrt(-1)", "negative"},
        {"10.0 ** 400", "finite"},
        {"3M", "letter follows"},
        {"1.2.3", "not a number"},
        {"M N", "ended before"},
        {"0x10", "letter follows"},
        {"\xff\xfe", "unexpected character"},
    };
    for (size_t i = 0; i < HONE_COUNTOF(table); i++) {
        struct hone_expr_value got;
        struct hone_err err = HONE_ERR_INIT;
        ck_assert_int_eq(hone_expr_eval(table[i].text, names, HONE_COUNTOF(names), &got, &err),
                         HONE_E_ARG);
        ck_assert_msg(strstr(err.message, table[i].want) != NULL, "%s: %s", table[i].text,
                      err.message);
        ck_assert_int_eq(hone_expr_eval(table[i].text, names, HONE_COUNTOF(names), &got, NULL),
                         HONE_E_ARG);
    }
}
END_TEST

START_TEST(check_ignores_values_but_not_names)
{
    ck_assert_int_eq(hone_expr_check("M // Z + log2(Z)", names, HONE_COUNTOF(names), NULL), 0);
    ck_assert_int_eq(hone_expr_check("Z and Q", names, HONE_COUNTOF(names), NULL), HONE_E_ARG);
}
END_TEST

static char *repeat(const char *part, size_t n, const char *end)
{
    size_t len = strlen(part);
    char *text = hone_malloc(len * n + strlen(end) + 1);
    for (size_t i = 0; i < n; i++)
        memcpy(text + i * len, part, len);
    memcpy(text + n * len, end, strlen(end) + 1);
    return text;
}

START_TEST(limits)
{
    static const char *const deep[] = {"(", "-", "not ", "2**", "min(", "!"};
    struct hone_expr_value got;
    for (size_t i = 0; i < HONE_COUNTOF(deep); i++) {
        char *text = repeat(deep[i], HONE_LIMIT_EXPR_DEPTH + 1, "1");
        ck_assert_int_eq(hone_expr_eval(text, NULL, 0, &got, NULL), HONE_E_LIMIT);
        free(text);
    }
    char *at = repeat("-", HONE_LIMIT_EXPR_DEPTH - 1, "1");
    ck_assert_int_eq(hone_expr_eval(at, NULL, 0, &got, NULL), 0);
    free(at);
    char *full = repeat("1+", HONE_LIMIT_EXPR_BYTES / 2 - 1, "10"),
         *over = repeat("1+", HONE_LIMIT_EXPR_BYTES / 2, "1");
    ck_assert_uint_eq(strlen(full), HONE_LIMIT_EXPR_BYTES);
    ck_assert_int_eq(hone_expr_eval(full, NULL, 0, &got, NULL), 0);
    ck_assert_int_eq(hone_expr_eval(over, NULL, 0, &got, NULL), HONE_E_LIMIT);
    free(full);
    free(over);
}
END_TEST

START_TEST(extremes_do_not_trap)
{
    static const char *const table[] = {
        "(-big - 1) // -1", "(-big - 1) % -1", "abs(-big - 1)",        "-(-big - 1)",
        "big ** big",       "big ** 2",        "99999999999999999999", "big * big * big",
        "ceil(1e300)",      "0 ** 0",          "(-big-1) * -1"};
    for (size_t i = 0; i < HONE_COUNTOF(table); i++) {
        struct hone_expr_value got = {.f = 0};
        int code = hone_expr_eval(table[i], names, HONE_COUNTOF(names), &got, NULL);
        ck_assert(code == HONE_E_ARG || isfinite(got.f));
    }
}
END_TEST

UNIT_MAIN("expr", values, errors_name_the_column, check_ignores_values_but_not_names, limits,
          extremes_do_not_trap)
