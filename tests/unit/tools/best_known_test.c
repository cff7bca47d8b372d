/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/tools/tool_util.h"

#define FAST "/* FAST */ void sum(void) {}"
#define SCRIPT                                                                                     \
    "{\"match\":\"FAST\",\"ns\":250000}\n"                                                         \
    "{\"match\":\"SLOW\",\"ns\":4000000}\n"                                                        \
    "{\"match\":\"EQUAL\",\"ns\":1000000}\n"                                                       \
    "{\"match\":\"DOUBTED\",\"ns\":1000,\"doubt\":\"too good\"}\n"

static const char *best_known(struct bench *b, const char *source, const char *more)
{
    return text_of(
        bench_ok(b, "kernel_evaluate",
                 hone_pool_printf(b->pool, "{\"task\":\"sum\",\"source\":\"%s\"%s}", source, more)),
        "best_known");
}

START_TEST(the_best_known_version_stands_beside)
{
    struct bench b;

    bench_open(&b, SCRIPT);
    ck_assert_str_eq(best_known(&b, "SLOW", ",\"tier\":\"decide\""), ""); /* the first */
    ck_assert_str_eq(best_known(&b, FAST " ", ""), "");                   /* a screen */
    ck_assert_ptr_nonnull(
        strstr(best_known(&b, FAST, ",\"tier\":\"decide\""), "this one; of the others "));
    (void)best_known(&b, "DOUBTED", ",\"tier\":\"decide\"");
    const char *said = best_known(&b, "EQUAL", ",\"tier\":\"confirm\"");
    ck_assert_msg(strstr(said, ": 250 us a call (decide), 4 times as fast as this one") != NULL,
                  "%s", said);
    said = best_known(&b, "SLOW EQUAL", ",\"tier\":\"decide\",\"workloads\":[\"n1m\"]");
    ck_assert_msg(said[0] == '\0', "%s", said); /* no other was timed on that size alone */
    bench_close(&b);
}
END_TEST

UNIT_MAIN("best_known", the_best_known_version_stands_beside)
