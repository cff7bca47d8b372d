/* SPDX-License-Identifier: Apache-2.0 */
#include "workspace/base/err.h"

#include <errno.h>
#include <string.h>
#include "tests/unit/unit.h"
#include "workspace/base/utf8.h"

START_TEST(fail_sets_everything)
{
    struct hone_err err = HONE_ERR_INIT;
    ck_assert_int_eq(hone_fail(&err, HONE_E_LIMIT, "%d of %s", 3, "x"), HONE_E_LIMIT);
    ck_assert_int_eq(err.code, HONE_E_LIMIT);
    ck_assert_str_eq(err.message, "3 of x");
    ck_assert_str_eq(err.path, "");
    ck_assert_int_eq(err.native, 0);
    ck_assert_int_eq(hone_fail(NULL, HONE_E_ARG, "no place to put it"), HONE_E_ARG);
}
END_TEST

START_TEST(errno_is_named)
{
    struct hone_err err = HONE_ERR_INIT;
    ck_assert_int_eq(hone_fail_errno(&err, ENOENT, "cannot open '%s'", "f"), HONE_E_IO);
    ck_assert_int_eq(err.native, ENOENT);
    ck_assert_str_eq(err.message, "cannot open 'f': No such file or directory");
    hone_fail_errno(&err, 99999, "odd");
    ck_assert_str_eq(err.message, "odd: unknown error");
}
END_TEST

START_TEST(place_is_kept_and_cleared)
{
    struct hone_err err = HONE_ERR_INIT;
    hone_fail_at(&err, HONE_E_ARG, "a.b[1]", "wrong");
    ck_assert_str_eq(err.path, "a.b[1]");
    ck_assert_int_eq(hone_wrap(&err, "task '%s'", "t"), HONE_E_ARG);
    ck_assert_str_eq(err.path, "a.b[1]");
    ck_assert_str_eq(err.message, "task 't': wrong");
    hone_fail(&err, HONE_E_IO, "other");
    ck_assert_str_eq(err.path, "");
    ck_assert_int_eq(hone_wrap(NULL, "x"), HONE_E_BUG);
}
END_TEST

START_TEST(own_message_as_argument)
{
    struct hone_err err = HONE_ERR_INIT;
    hone_fail_at(&err, HONE_E_ARG, "p", "first");
    hone_fail_at(&err, HONE_E_LIMIT, err.path, "%s, again", err.message);
    ck_assert_str_eq(err.message, "first, again");
    ck_assert_str_eq(err.path, "p");
}
END_TEST

/* Every length around the field's end, with characters of 1 to 4 bytes: always terminated, always
 * whole. */
START_TEST(long_messages_are_cut_at_characters)
{
    static const char *const characters[] = {"a", "\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x98\x80"};
    for (size_t c = 0; c < HONE_COUNTOF(characters); c++) {
        for (size_t head = 0; head < 8; head++) {
            char text[4 * HONE_ERR_MESSAGE_BYTES] = "";
            memset(text, 'x', head);
            text[head] = '\0';
            while (strlen(text) < 2 * HONE_ERR_MESSAGE_BYTES)
                memcpy(text + strlen(text), characters[c], strlen(characters[c]) + 1);
            struct hone_err err = HONE_ERR_INIT;
            hone_fail_at(&err, HONE_E_ARG, text, "%s", text);
            size_t len = strlen(err.message), path_len = strlen(err.path);
            ck_assert_uint_gt(len, HONE_ERR_MESSAGE_BYTES - 5);
            ck_assert_uint_gt(path_len, HONE_ERR_PATH_BYTES - 5);
            ck_assert_uint_eq(hone_utf8_valid_prefix(err.message, len), len);
            ck_assert_uint_eq(hone_utf8_valid_prefix(err.path, path_len), path_len);
            hone_wrap(&err, "%s", text);
            ck_assert_uint_lt(strlen(err.message), HONE_ERR_MESSAGE_BYTES);
        }
    }
}
END_TEST

START_TEST(codes_have_names_and_exits)
{
    static const struct {
        enum hone_code code;
        const char *name;
        int exit_status;
    } rows[] = {
        {HONE_OK, "ok", 0},
        {HONE_E_BUG, "bug", 1},
        {HONE_E_ARG, "arg", 2},
        {HONE_E_NOT_FOUND, "not_found", 3},
        {HONE_E_LIMIT, "limit", 4},
        {HONE_E_TIMEOUT, "timeout", 5},
        {HONE_E_CANCEL, "cancel", 6},
        {HONE_E_IO, "io", 7},
        {HONE_E_NOMEM, "nomem", 8},
        {HONE_E_TARGET, "target", 9},
        {HONE_E_UNSUPPORTED, "unsupported", 10},
        {HONE_E_AUTH, "auth", 11},
        {HONE_E_BUSY, "busy", 12},
        {HONE_E_EXISTS, "exists", 13},
        {HONE_E_CORRUPT, "corrupt", 14},
        {(enum hone_code) - 99, "bug", 1},
        {(enum hone_code)7, "bug", 1},
    };
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        ck_assert_str_eq(hone_code_name(rows[i].code), rows[i].name);
        ck_assert_int_eq(hone_code_exit(rows[i].code), rows[i].exit_status);
    }
}
END_TEST

START_TEST(utf8)
{
    static const struct {
        const char *text;
        size_t len, valid;
    } rows[] = {
        {"", 0, 0},
        {"abc", 3, 3},
        {"\xC3\xA9", 2, 2},
        {"\xC3", 1, 0},
        {"\xC0\x80", 2, 0},
        {"\xC1\xBF", 2, 0},
        {"\xE0\x9F\xBF", 3, 0},
        {"\xE0\xA0\x80", 3, 3},
        {"\xED\x9F\xBF", 3, 3},
        {"\xED\xA0\x80", 3, 0},
        {"\xEF\xBF\xBF", 3, 3},
        {"\xF0\x8F\xBF\xBF", 4, 0},
        {"\xF0\x90\x80\x80", 4, 4},
        {"\xF4\x8F\xBF\xBF", 4, 4},
        {"\xF4\x90\x80\x80", 4, 0},
        {"\xF5\x80\x80\x80", 4, 0},
        {"a\x80", 2, 1},
        {"ab\xE2\x82", 4, 2},
    };
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++)
        ck_assert_msg(hone_utf8_valid_prefix(rows[i].text, rows[i].len) == rows[i].valid, "row %zu",
                      i);
    ck_assert_uint_eq(hone_utf8_cut("ab\xE2\x82\xAC"
                                    "c",
                                    5),
                      5);
    ck_assert_uint_eq(hone_utf8_cut("ab\xE2\x82\xAC"
                                    "c",
                                    4),
                      2);
    ck_assert_uint_eq(hone_utf8_cut("ab\xE2\x82\xAC"
                                    "c",
                                    3),
                      2);
    ck_assert_uint_eq(hone_utf8_cut("ab\xE2\x82\xAC"
                                    "c",
                                    2),
                      2);
}
END_TEST

START_TEST(defused_text)
{
    static const struct {
        const char *text, *want;
    } rows[] = {
        {"", ""},
        {"plain \xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80",
         "plain \xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80"},
        {"two\nlines\tand a tab", "two\nlines\tand a tab"},
        {"\x1B[2J\x07\r\x7F", "?[2J???"},
        {"c1 \xC2\x9B"
         "31m \xC2\xA0",
         "c1 ?31m \xC2\xA0"},
        {"\xE2\x80\xAE\xE2\x80\xA8\xE2\x81\xA6\xE2\x80\xA6", "???\xE2\x80\xA6"},
        {"bad \xFF.\xC3(\xE2\x82", "bad ?.?(?"
                                   "?"},
    };
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        HONE_AUTOFREE char *text = hone_strdup(rows[i].text);
        hone_utf8_defuse(text, '?');
        ck_assert_str_eq(text, rows[i].want);
    }
}
END_TEST

UNIT_MAIN("err", fail_sets_everything, errno_is_named, place_is_kept_and_cleared,
          own_message_as_argument, long_messages_are_cut_at_characters, codes_have_names_and_exits,
          utf8, defused_text)
