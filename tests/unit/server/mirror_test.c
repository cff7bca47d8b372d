/* SPDX-License-Identifier: Apache-2.0 */
/* Headers that repeat what a body says. */
#include "server/exchange/mirror.h"

#include <string.h>
#include "tests/unit/unit.h"

START_TEST(headers_repeat_values)
{
    static const struct {
        const char *header, *value; /* header NULL: absent */
        bool agrees;
    } rows[] = {
        {"Hello", "\"Hello\"", true},
        {"  Hello\t", "\"Hello\"", true},
        {"hello", "\"Hello\"", false},
        {"=?base64?SGVsbG8=?=", "\"Hello\"", true},
        {"=?base64?SGVsbG8?=", "\"Hello\"", false},
        {"=?base64?SGVs!!!bG8=?=", "\"Hello\"", false},
        {"=?base64?SGVsbG9=?=", "\"Hello\"", false}, /* a bit beside the padding */
        {"=?base64?SGVsbG8=", "\"=?base64?SGVsbG8=\"", true},
        {"SGVsbG8=", "\"SGVsbG8=\"", true},
        {"=?base64?\?=", "\"\"", true},
        {"", "\"\"", true},
        {"=?base64?w6k=?=", "\"\xc3\xa9\"", true},
        {"\xc3\xa9", "\"\xc3\xa9\"", false},
        {"=?base64?AA==?=", "\"\"", false},
        {"=?base64?====?=", "\"\"", false},
        {"=?base64?Zg=g?=", "\"f\"", false},
        {"=?base64?Zg==?=", "\"f\"", true},
        {"true", "true", true},
        {"True", "true", false},
        {"1", "true", false},
        {"false", "false", true},
        {"42", "42", true},
        {"-7", "-7", true},
        {"042", "42", false},
        {"43", "42", false},
        {"\"42\"", "42", false},
        {"x", "42", false},
        {"42", "\"42\"", true},
        {"x", "{}", false},
        {NULL, "\"Hello\"", false},
        {NULL, "null", true},
        {"null", "null", false},
    };
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        HONE_AUTOJSON struct hone_json *value = NULL;
        ck_assert_int_eq(hone_json_parse(rows[i].value, strlen(rows[i].value), &value, NULL), 0);
        ck_assert_msg(hone_mirror_agrees(rows[i].header, value) == rows[i].agrees, "%s, %s",
                      rows[i].header, rows[i].value);
    }
    ck_assert(hone_mirror_agrees(NULL, NULL));
    ck_assert(!hone_mirror_agrees("x", NULL));
    ck_assert(hone_mirror_is(" tools/list ", "tools/list"));
    ck_assert(!hone_mirror_is(NULL, ""));
}
END_TEST

UNIT_MAIN("mirror", headers_repeat_values)
