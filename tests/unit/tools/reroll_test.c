/* SPDX-License-Identifier: Apache-2.0 */
/* Confirmations of one machine code are confirmations of one version, whatever its source says. */
#include "tests/unit/tools/tool_util.h"

/* A source is only text to the fake executor. */
#define SCRIPT                                                                                     \
    "{\"match\":\"LUCKY\",\"ns\":250000,\"code\":\"c1\"}\n"                                        \
    "{\"match\":\"PLAIN\",\"ns\":500000,\"code\":\"c1\"}\n"                                        \
    "{\"match\":\"OTHER\",\"ns\":400000,\"code\":\"c2\"}\n"

static struct hone_json *confirm(struct bench *b, const char *source, const char *more)
{
    return bench_ok(b, "kernel_evaluate",
                    hone_pool_printf(b->pool,
                                     "{\"task\":\"sum\",\"tier\":\"confirm\",\"source\":\"%s\"%s}",
                                     source, more));
}

static bool is_doubted(const struct hone_json *result)
{
    return hone_json_get(result, "doubts") != NULL;
}

static const char *contradiction(struct bench *b, const char *commit)
{
    struct hone_json *shown =
        bench_ok(b, "history_show", hone_pool_printf(b->pool, "{\"commit\":\"%s\"}", commit));
    return hone_json_get_str(hone_json_get(shown, "version"), "contradiction", NULL);
}

START_TEST(a_comment_is_no_fresh_start)
{
    struct bench b;
    bench_open(&b, SCRIPT);
    struct hone_json *first = confirm(&b, "PLAIN", "");
    ck_assert(!is_doubted(first));
    ck_assert_ptr_null(contradiction(&b, text_of(first, "commit")));
    ck_assert(!is_doubted(confirm(&b, "OTHER", ""))); /* other machine code */
    ck_assert(!is_doubted(confirm(&b, "LUCKY with options", ",\"flags\":[\"-O2\"]")));
    struct hone_json *second = confirm(&b, "LUCKY", "");
    ck_assert(is_doubted(second));
    ck_assert_str_ne(text_of(first, "commit"), text_of(second, "commit"));
    ck_assert_ptr_nonnull(hone_json_get(second, "confirmations"));
    ck_assert_ptr_nonnull(contradiction(&b, text_of(first, "commit"))); /* found again */
    ck_assert_ptr_nonnull(contradiction(&b, text_of(second, "commit")));
    struct hone_json *third = confirm(&b, "PLAIN again", ""); /* two of three */
    ck_assert(!is_doubted(third));
    ck_assert_ptr_null(contradiction(&b, text_of(first, "commit")));
    ck_assert_ptr_nonnull(contradiction(&b, text_of(second, "commit")));
    bench_close(&b);
}
END_TEST

UNIT_MAIN("reroll", a_comment_is_no_fresh_start)
