/* SPDX-License-Identifier: Apache-2.0 */
/* A profile that others disturbed. */
#include "tests/unit/tools/tool_util.h"

/* A source is only text to the fake executor. */
#define FAST "/* FAST */ void sum(void) {}"

static const char *args(struct bench *b, const char *source, const char *more)
{
    return hone_pool_printf(b->pool, "{\"task\":\"sum\",\"source\":\"%s\"%s}", source, more);
}

/* What others did to a profile is no known answer: the same call runs again. */
START_TEST(loaded_profile_is_not_kept)
{
    struct bench b;
    struct hone_json *r;

    bench_open(&b, "{\"match\":\"LOADED\",\"limited_by\":\"loaded\"}\n");
    for (int i = 0; i < 2; i++) {
        r = bench_ok(&b, "kernel_profile", args(&b, "/* LOADED */ void sum(void) {}", ""));
        ck_assert(!hone_json_get_bool(r, "is_cached", false));
        ck_assert_ptr_nonnull(strstr(text_of(r, "summary"), "loaded"));
        ck_assert_ptr_null(strstr(text_of(r, "next"), "as parent"));
    }
    for (int i = 0; i < 2; i++) {
        r = bench_ok(&b, "kernel_profile", args(&b, FAST, ""));
        ck_assert_int_eq(hone_json_get_bool(r, "is_cached", false), i == 1);
        ck_assert_ptr_nonnull(strstr(text_of(r, "summary"), "; call_ns is of nothing: fake; an e"));
        ck_assert_ptr_nonnull(strstr(text_of(r, "next"), "as parent"));
    }
    bench_close(&b);
}
END_TEST

UNIT_MAIN("loaded_profile", loaded_profile_is_not_kept)
