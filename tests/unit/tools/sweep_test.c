/* SPDX-License-Identifier: Apache-2.0 */
/* What an answer of kernel_tune shows of its sweep. */
#include "tests/unit/tools/tool_util.h"

static const char *args(struct bench *b, const char *source, const char *more)
{
    return hone_pool_printf(b->pool, "{\"task\":\"sum\",\"source\":\"%s\"%s}", source, more);
}

/* The usual answer has every setting with its interval, a line each, not five rows of sixteen. */
START_TEST(a_sweep_is_shown_whole)
{
    struct bench b;
    bench_open(&b, NULL);
    const struct hone_json *r = bench_ok(
        &b, "kernel_tune",
        args(
            &b,
            "#pragma hone tune(A: 1, 2, 3, 4)\\n#pragma hone tune(B: 1, 2, 3, 4)\\nvoid f(void) {}",
            ""));
    const char *sweep = text_of(r, "sweep");
    for (int a = 1; a <= 4; a++)
        for (int k = 1; k <= 4; k++)
            ck_assert_msg(strstr(sweep, hone_pool_printf(b.pool, "A=%d B=%d: ", a, k)) != NULL,
                          "%s", sweep);
    ck_assert_msg(strstr(sweep, " ns ") && strstr(sweep, "x [") && !strstr(sweep, " more"), "%s",
                  sweep);
    ck_assert_ptr_null(hone_json_get(r, "points"));
    ck_assert_ptr_nonnull(
        strstr(text_of(r, "summary"), " of 16 settings; the sweep's ratios are good to 2 %: "));
    ck_assert_ptr_null(hone_json_get(r, "dropped"));
    r = bench_ok(
        &b, "kernel_tune",
        args(
            &b,
            "#pragma hone tune(A: 1, 2, 3, 4)\\n#pragma hone tune(B: 1, 2, 3, 4)\\nvoid f(void) {}",
            ",\"detail\":\"concise\""));
    ck_assert_msg(strstr(text_of(r, "sweep"), " lines more") != NULL, "%s", text_of(r, "sweep"));
    bench_close(&b);
}
END_TEST

START_TEST(a_wrong_source_is_not_swept)
{
    struct bench b;
    bench_open(&b, "{\"match\":\"BAD\",\"reason\":\"wrong_value\"}\n");
    bool is_error;
    const struct hone_json *r = bench_call(
        &b, "kernel_tune",
        args(&b, "/* BAD */\\n#pragma hone tune(A: 1, 2, 3, 4)\\nvoid f(void) {}", ""), &is_error);
    ck_assert_str_eq(text_of(r, "reason"), "wrong_value");
    ck_assert_str_eq(text_of(r, "sweep"), "");
    bench_close(&b);
}
END_TEST

UNIT_MAIN("sweep", a_sweep_is_shown_whole, a_wrong_source_is_not_swept)
