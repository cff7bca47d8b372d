/* SPDX-License-Identifier: Apache-2.0 */
/* Text cut for results: whole characters, whole lines, nothing that a terminal obeys. */
#include "workspace/base/text.h"

#include <stdio.h>
#include <string.h>

#include "tests/unit/unit.h"
#include "workspace/base/json.h"

START_TEST(cutting)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    char *text = hone_pool_alloc(pool, 3001);
    const char *cut;

    for (int i = 0; i < 1000; i++)
        memcpy(text + 3 * i, "\xe2\x82\xac", 3); /* a three byte character */
    for (size_t max = 0; max < 3100; max += 7) {
        cut = hone_plain_cut(pool, text, max);
        ck_assert_uint_le(strlen(cut), max > 96 ? max : 96);
        HONE_AUTOJSON struct hone_json *json = hone_json_new_str(cut);
        ck_assert_msg(strstr(hone_json_str(json), "\xef\xbf\xbd") == NULL,
                      "a character was cut at %zu", max);
        cut = hone_plain_line(pool, text, max);
        ck_assert_uint_le(strlen(cut), max);
    }
    ck_assert_ptr_nonnull(strstr(hone_plain_cut(pool, text, 500), "bytes cut"));
    ck_assert_str_eq(hone_plain_line(pool, " a\n\tb\x1b[0m ", 100), "a b [0m");
    ck_assert_str_eq(hone_plain_ns(pool, 1250000), "1.25 ms");
}
END_TEST

START_TEST(whole_lines)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    static const char note[] = "... 5000 lines more\n";
    char *text = hone_pool_alloc(pool, 1000 * 8 + sizeof note), *at = text;
    size_t n = 0;

    ck_assert_ptr_null(hone_plain_lines(pool, NULL, 10));
    for (int i = 0; i < 1000; i++)
        at += snprintf(at, 9, "line%3d\n", i % 1000);
    ck_assert_str_eq(hone_plain_lines(pool, text, 8000), text); /* at the limit */
    for (size_t max = 0; max < 8000; max += 13) {
        const char *cut = hone_plain_lines(pool, text, max);
        size_t kept = (size_t)(strstr(cut, "... ") - cut);
        ck_assert_uint_le(strlen(cut), max > 48 ? max : 48);
        ck_assert_int_eq(sscanf(cut + kept, "... %zu lines more\n", &n), 1);
        ck_assert_uint_eq(kept % 8, 0);
        ck_assert_uint_eq(kept / 8 + n, 1000);
    }
    (void)stpcpy(at, note); /* it was cut before */
    const char *cut = hone_plain_lines(pool, text, 4000);
    ck_assert_int_eq(sscanf(strstr(cut, "... "), "... %zu lines more\n", &n), 1);
    ck_assert_uint_eq((size_t)(strstr(cut, "... ") - cut) / 8 + n, 6000);
    ck_assert_str_eq(hone_plain_lines(pool, "a\x1b\xff\n", 10), "a  \n");
}
END_TEST

START_TEST(nearest)
{
    static const char *const words[] = {"init", "search", "serve", "show", "log"};
    static const struct {
        const char *name, *want;
    } cases[] = {{"serach", "search"},  {"serv", "serve"}, {"lgo", "log"}, {"SHOW", "show"},
                 {"xyzzy-plugh", NULL}, {"qqq", NULL},     {"", NULL}};

    for (size_t i = 0; i < HONE_COUNTOF(cases); i++)
        ck_assert_pstr_eq(hone_plain_nearest(cases[i].name, words, HONE_COUNTOF(words)),
                          cases[i].want);
}
END_TEST

UNIT_MAIN("text", cutting, whole_lines, nearest)
