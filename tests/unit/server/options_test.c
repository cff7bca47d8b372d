/* SPDX-License-Identifier: Apache-2.0 */
#include "server/options.h"

#include <math.h>
#include <string.h>
#include "tests/unit/unit.h"

struct args {
    const char *name, *file, *mode;
    int64_t n, wall_ms;
    double share;
    bool json;
};

static const char *const modes[] = {"fast", "slow", NULL};
static const struct hone_opt opts[] = {
    HONE_OPT(struct args, name, "name", "NAME", "A name.", .is_positional = true,
             .is_required = true),
    HONE_OPT(struct args, file, "file", "FILE", "A file.", .is_positional = true),
    HONE_OPT(struct args, mode, "mode", "MODE", "A mode.", .choices = modes, .fallback = "fast"),
    HONE_OPT(struct args, n, "count", "N", "A number.", .min = 1, .max = 9, .fallback = "3",
             .env = "HONE_TEST_COUNT", .letter = 'c'),
    HONE_OPT(struct args, wall_ms, "budget-wall", "TIME", "A time.", .is_duration = true),
    HONE_OPT(struct args, share, "share", "X", "A share.", .max = 100),
    HONE_OPT_JSON(struct args),
};

/* Strings of ret are borrowed from words. */
static int parse(const char *const *words, struct args *ret, struct hone_err *err)
{
    union {
        const char *borrowed[16];
        char *plain[16];
    } argv;
    int n = 0;
    for (; words[n]; n++)
        argv.borrowed[n] = words[n];
    return hone_opts_parse(n, argv.plain, opts, HONE_COUNTOF(opts), ret, sizeof(*ret), err);
}

START_TEST(good)
{
    struct args args;
    struct hone_err err = HONE_ERR_INIT;
    const char *const words[] = {"a",      "--mode=slow", "-c",   "9",  "--budget-wall", "1.5m",
                                 "--json", "--share",     "0.25", "--", "--b",           NULL};
    ck_assert_msg(parse(words, &args, &err) == 0, "%s", err.message);
    ck_assert_str_eq(args.name, "a");
    ck_assert_str_eq(args.file, "--b");
    ck_assert_str_eq(args.mode, "slow");
    ck_assert_int_eq(args.n, 9);
    ck_assert_int_eq(args.wall_ms, 90000);
    ck_assert(args.json && fabs(args.share - 0.25) < 1e-12);
    const char *const few[] = {"a", NULL};
    ck_assert_int_eq(parse(few, &args, &err), 0);
    ck_assert_ptr_null(args.file);
    ck_assert_int_eq(args.n, 3);
    ck_assert(!args.json);
    setenv("HONE_TEST_COUNT", "7", 1);
    ck_assert_int_eq(parse(few, &args, &err), 0);
    ck_assert_int_eq(args.n, 7);
    setenv("HONE_TEST_COUNT", "x", 1);
    ck_assert_int_eq(parse(few, &args, &err), HONE_E_ARG);
    ck_assert_ptr_nonnull(strstr(err.message, "HONE_TEST_COUNT"));
}
END_TEST

START_TEST(bad)
{
    static const struct {
        const char *words[4];
        const char *message;
    } rows[] = {
        {{NULL}, "NAME is missing"},
        {{"a", "b", "c", NULL}, "too many"},
        {{"a", "--cuont", "1", NULL}, "--count"},
        {{"a", "--zzzzzzzz", NULL}, "no option"},
        {{"a", "--count", NULL}, "needs a value"},
        {{"a", "--count", "0", NULL}, "outside"},
        {{"a", "--count", "10", NULL}, "outside"},
        {{"a", "--count", "1x", NULL}, "whole number"},
        {{"a", "--count=", NULL}, "whole number"},
        {{"a", "--mode", "middling", NULL}, "fast, slow"},
        {{"a", "-c", NULL}, "needs a value"},
        {{"a", "-c", "x", NULL}, "whole number"},
        {{"a", "--budget-wall", "5d", NULL}, "duration"},
        {{"a", "--budget-wall", "-5s", NULL}, "duration"},
        {{"a", "--json=1", NULL}, "no value"},
        {{"a", "-j", NULL}, "two dashes"},
        {{"a", "--share", "x", NULL}, "no number"},
        {{"a", "--share", "nan", NULL}, "no number"},
        {{"a", "--share", "1e999", NULL}, "no number"},
        {{"a", "--share", "101", NULL}, "outside"},
        {{"a", "--share", "-1", NULL}, "outside"},
    };
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        struct args args;
        struct hone_err err = HONE_ERR_INIT;
        ck_assert_msg(parse(rows[i].words, &args, &err) == HONE_E_ARG, "row %zu", i);
        ck_assert_msg(strstr(err.message, rows[i].message) != NULL, "row %zu: %s", i, err.message);
    }
}
END_TEST

START_TEST(help_names_everything)
{
    struct hone_buf out = HONE_BUF_INIT;
    hone_opts_usage(opts, HONE_COUNTOF(opts), &out);
    hone_opts_help(opts, HONE_COUNTOF(opts), NULL, &out);
    static const char *const wanted[] = {" NAME [FILE] [options]",        "--mode MODE",
                                         "One of: fast, slow.",           "Default: 3.",
                                         "Environment: HONE_TEST_COUNT.", "--help"};
    for (size_t i = 0; i < HONE_COUNTOF(wanted); i++)
        ck_assert_msg(strstr(out.data, wanted[i]) != NULL, "%s in:\n%s", wanted[i], out.data);
    hone_buf_done(&out);
}
END_TEST

UNIT_MAIN("options", good, bad, help_names_everything)
