/* SPDX-License-Identifier: Apache-2.0 */
#include "workspace/base/json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include "tests/unit/unit.h"
#include "workspace/base/limits.h"

static struct hone_json *parsed(const char *text)
{
    struct hone_json *value = NULL;
    struct hone_err err = HONE_ERR_INIT;
    int rc = hone_json_parse(text, strlen(text), &value, &err);
    ck_assert_msg(rc == 0, "%s: %s", text, err.message);
    return value;
}

/* ---- what is taken, and how it prints ---- */

static const struct {
    const char *text, *print; /* print NULL: as text */
} good[] = {
    {"null", NULL},
    {" \t\r\n true \n", "true"},
    {"false", NULL},
    {"0", NULL},
    {"-0", NULL},
    {"-0.0", "-0"},
    {"1.0", "1"},
    {"1e3", "1000"},
    {"1E+3", "1000"},
    {"1e-7", "1e-07"},
    {"0.1", NULL},
    {"0.30000000000000004", NULL},
    {"123456.789", NULL},
    {"5e-324", NULL},
    {"2.2250738585072014e-308", NULL},
    {"1.7976931348623157e308", "1.7976931348623157e+308"},
    {"3.141592653589793", NULL},
    {"4294967296", NULL},
    {"999999999999999", NULL},
    {"9007199254740991", NULL},
    {"9007199254740992", NULL},
    {"-9007199254740992", NULL},
    /* beyond what a double holds: the digits are kept */
    {"9007199254740993", NULL},
    {"9223372036854775807", NULL},
    {"-9223372036854775808", NULL},
    {"18446744073709551615", NULL},
    {"[1,9007199254740993,2.5,[9007199254740995,{\"a\":9007199254740997}],\"9007199254740999\"]",
     NULL},
    {"\"\"", NULL},
    {"\"a\\\"b\\\\c\\/d\\b\\f\\n\\r\\t\"", "\"a\\\"b\\\\c/d\\b\\f\\n\\r\\t\""},
    {"\"\\u0001\\u001f\\u007f\"", NULL},
    {"\"\\u00e9\\u20AC\\ud83d\\ude00\"", "\"\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\""},
    {"\"\xF4\x8F\xBF\xBF\"", NULL},
    {"[]", NULL},
    {"[ ]", "[]"},
    {"{ }", "{}"},
    {"[1,[2,[3]],{}]", NULL},
    {"{\"a\":1,\"A\":2,\"\":3}", NULL},
    {" { \"a\" : [ 1 , 2 ] } ", "{\"a\":[1,2]}"},
};

START_TEST(takes)
{
    for (size_t i = 0; i < HONE_COUNTOF(good); i++) {
        HONE_AUTOJSON struct hone_json *value = parsed(good[i].text);
        HONE_AUTOFREE char *text = hone_json_print(value);
        ck_assert_str_eq(text, good[i].print ? good[i].print : good[i].text);
        HONE_AUTOJSON struct hone_json *copy = hone_json_copy(value);
        HONE_AUTOFREE char *same = hone_json_print(copy);
        ck_assert_str_eq(text, same);
    }
}
END_TEST

/* ---- what is refused ---- */

static const struct {
    const char *text, *message; /* a part of it */
    enum hone_code code;
} bad[] = {
    {"", "the text ends", HONE_E_ARG},
    {"   ", "the text ends", HONE_E_ARG},
    {"nul", "expected a value", HONE_E_ARG},
    {"True", "expected a value", HONE_E_ARG},
    {"NaN", "expected a value", HONE_E_ARG},
    {"Infinity", "expected a value", HONE_E_ARG},
    {"-Infinity", "a number needs a digit", HONE_E_ARG},
    {"+1", "expected a value", HONE_E_ARG},
    {".5", "expected a value", HONE_E_ARG},
    {"01", "must not start with 0", HONE_E_ARG},
    {"-01", "must not start with 0", HONE_E_ARG},
    {"00", "must not start with 0", HONE_E_ARG},
    {"1.", "a digit must follow '.'", HONE_E_ARG},
    {"1.e5", "a digit must follow '.'", HONE_E_ARG},
    {"1e", "exponent", HONE_E_ARG},
    {"1e+", "exponent", HONE_E_ARG},
    {"-", "a number needs a digit", HONE_E_ARG},
    {"0x10", "text after the value", HONE_E_ARG},
    {"1e400", "larger than a double", HONE_E_ARG},
    {"[-1e400]", "larger than a double", HONE_E_ARG},
    {"\"abc", "not closed", HONE_E_ARG},
    {"\"a\tb\"", "control character", HONE_E_ARG},
    {"\"a\nb\"", "control character", HONE_E_ARG},
    {"\"\\u0000\"", "\\u0000 is not accepted", HONE_E_ARG},
    {"{\"\\u0000\":1}", "\\u0000 is not accepted", HONE_E_ARG},
    {"\"\\x41\"", "unknown escape", HONE_E_ARG},
    {"\"\\", "unknown escape", HONE_E_ARG},
    {"\"\\u12\"", "four hex digits", HONE_E_ARG},
    {"\"\\u12G4\"", "four hex digits", HONE_E_ARG},
    {"\"\\ud800\"", "high surrogate", HONE_E_ARG},
    {"\"\\ud800x\"", "high surrogate", HONE_E_ARG},
    {"\"\\ud800\\u0041\"", "high surrogate", HONE_E_ARG},
    {"\"\\udc00\"", "low surrogate", HONE_E_ARG},
    {"\"\xFF\"", "not UTF-8", HONE_E_ARG},
    {"\"\xC3\"", "not UTF-8", HONE_E_ARG},
    {"\"\xED\xA0\x80\"", "not UTF-8", HONE_E_ARG},
    {"\"\xC0\x80\"", "not UTF-8", HONE_E_ARG},
    {"\xEF\xBB\xBF{}", "expected a value", HONE_E_ARG},
    {"'a'", "expected a value", HONE_E_ARG},
    {"[1,]", "expected a value", HONE_E_ARG},
    {"[1 2]", "expected ',' or ']'", HONE_E_ARG},
    {"[1", "expected ',' or ']'", HONE_E_ARG},
    {"[", "the text ends", HONE_E_ARG},
    {"[}", "expected a value", HONE_E_ARG},
    {"{\"a\":1,}", "member name", HONE_E_ARG},
    {"{a:1}", "member name", HONE_E_ARG},
    {"{1:1}", "member name", HONE_E_ARG},
    {"{\"a\" 1}", "expected ':'", HONE_E_ARG},
    {"{\"a\":}", "expected a value", HONE_E_ARG},
    {"{\"a\":1 \"b\":2}", "expected ',' or '}'", HONE_E_ARG},
    {"/* c */ 1", "expected a value", HONE_E_ARG},
    {"1 2", "text after the value", HONE_E_ARG},
    {"{} x", "text after the value", HONE_E_ARG},
    {"{\"a\":1,\"a\":2}", "'a' is there twice", HONE_E_ARG},
    {"{\"a\":1,\"b\":2,\"\\u0061\":3}", "'a' is there twice", HONE_E_ARG},
    {"[{\"b\":{\"c\":1,\"c\":1}}]", "'c' is there twice", HONE_E_ARG},
    {"{\"\":1,\"\":2}", "'' is there twice", HONE_E_ARG},
};

START_TEST(refuses)
{
    for (size_t i = 0; i < HONE_COUNTOF(bad); i++) {
        struct hone_err err = HONE_ERR_INIT;
        struct hone_json *value = NULL;
        int rc = hone_json_parse(bad[i].text, strlen(bad[i].text), &value, &err);
        ck_assert_msg(rc == (int)bad[i].code, "'%s' gave %d", bad[i].text, rc);
        ck_assert_ptr_null(value);
        ck_assert_msg(strstr(err.message, bad[i].message) != NULL, "'%s': %s", bad[i].text,
                      err.message);
    }
}
END_TEST

START_TEST(says_where)
{
    struct hone_err err = HONE_ERR_INIT;
    struct hone_json *value = NULL;
    const char *text = "{\n \"a\": 1,\n \"b\": 01\n}";
    ck_assert_int_eq(hone_json_parse(text, strlen(text), &value, &err), HONE_E_ARG);
    ck_assert_str_eq(err.path, "line 3 column 7");
    ck_assert_str_eq(err.message, "JSON, line 3 column 7: a number must not start with 0");
}
END_TEST

START_TEST(nul_bytes_and_cut_texts)
{
    struct hone_json *value = NULL;
    ck_assert_int_eq(hone_json_parse("1\0", 2, &value, NULL), HONE_E_ARG);
    ck_assert_int_eq(hone_json_parse("\"a\0b\"", 5, &value, NULL), HONE_E_ARG);
    /* Only len bytes are read: what lies behind them must not matter. */
    ck_assert_int_eq(hone_json_parse("[1]garbage", 3, &value, NULL), 0);
    hone_json_free(value);
    value = NULL;
    ck_assert_int_eq(hone_json_parse("\"\\ud83d\\ude00\"", 9, &value, NULL), HONE_E_ARG);
    ck_assert_int_eq(hone_json_parse("true", 3, &value, NULL), HONE_E_ARG);
}
END_TEST

/* ---- limits, at and above ---- */

static int parse_nested(size_t depth, struct hone_err *err)
{
    HONE_CLEANUP(hone_buf_done) struct hone_buf text = HONE_BUF_INIT;
    for (size_t i = 0; i < depth; i++)
        hone_buf_str(&text, i % 2 ? "{\"a\":" : "[");
    hone_buf_str(&text, "1");
    for (size_t i = depth; i-- > 0;)
        hone_buf_str(&text, i % 2 ? "}" : "]");
    HONE_AUTOJSON struct hone_json *value = NULL;
    return hone_json_parse(text.data, text.len, &value, err);
}

START_TEST(depth_limit)
{
    struct hone_err err = HONE_ERR_INIT;
    ck_assert_int_eq(parse_nested(HONE_LIMIT_JSON_DEPTH, &err), 0);
    ck_assert_int_eq(parse_nested(HONE_LIMIT_JSON_DEPTH + 1, &err), HONE_E_LIMIT);
    ck_assert_ptr_nonnull(strstr(err.message, "nested deeper than 64"));
    ck_assert_int_eq(parse_nested(100000, &err), HONE_E_LIMIT);
}
END_TEST

START_TEST(bytes_limit)
{
    size_t len = HONE_LIMIT_JSON_BYTES;
    HONE_AUTOFREE char *text = hone_malloc(len + 1);
    HONE_AUTOJSON struct hone_json *value = NULL;
    struct hone_err err = HONE_ERR_INIT;
    memset(text, 'x', len + 1);
    text[0] = '"';
    text[len - 1] = '"';
    ck_assert_int_eq(hone_json_parse(text, len, &value, &err), 0);
    ck_assert_uint_eq(strlen(hone_json_str(value)), len - 2);
    hone_json_free_ptr(&value);
    text[len - 1] = 'x';
    text[len] = '"';
    ck_assert_int_eq(hone_json_parse(text, len + 1, &value, &err), HONE_E_LIMIT);
    ck_assert_str_eq(err.message, "JSON text is 16777217 bytes, at most 16777216 are accepted");
}
END_TEST

START_TEST(number_length_limit)
{
    char text[70];
    struct hone_json *value = NULL;
    memset(text, '1', sizeof(text));
    ck_assert_int_eq(hone_json_parse(text, 63, &value, NULL), 0);
    hone_json_free_ptr(&value);
    ck_assert_int_eq(hone_json_parse(text, 64, &value, NULL), HONE_E_LIMIT);
    text[1] = '.';
    ck_assert_int_eq(hone_json_parse(text, 63, &value, NULL), 0);
    hone_json_free_ptr(&value);
    ck_assert_int_eq(hone_json_parse(text, 64, &value, NULL), HONE_E_LIMIT);
}
END_TEST

START_TEST(many_members)
{
    HONE_CLEANUP(hone_buf_done) struct hone_buf text = HONE_BUF_INIT;
    for (int i = 0; i < 20000; i++)
        hone_buf_printf(&text, "%s\"k%d\":%d", i ? "," : "{", i, i);
    hone_buf_str(&text, "}");
    HONE_AUTOJSON struct hone_json *value = NULL;
    ck_assert_int_eq(hone_json_parse(text.data, text.len, &value, NULL), 0);
    ck_assert_uint_eq(hone_json_size(value), 20000);
    text.data[text.len - 1] = ',';
    hone_buf_str(&text, "\"k77\":0}");
    struct hone_err err = HONE_ERR_INIT;
    HONE_AUTOJSON struct hone_json *other = NULL;
    ck_assert_int_eq(hone_json_parse(text.data, text.len, &other, &err), HONE_E_ARG);
    ck_assert_str_eq(err.path, "k77");
}
END_TEST

/* ---- reading ---- */

static const struct {
    const char *text;
    bool is_i64;
    int64_t i64;
} integers[] = {
    {"0", true, 0},
    {"-0", true, 0},
    {"1e3", true, 1000},
    {"1.5", false, 0},
    {"1e300", false, 0},
    {"9007199254740993", true, 9007199254740993},
    {"-9007199254740993", true, -9007199254740993},
    {"9223372036854775807", true, INT64_MAX},
    {"-9223372036854775808", true, INT64_MIN},
    {"9223372036854775808", false, 0},
    {"-9223372036854775809", false, 0},
    {"9.223372036854775e18", false, 0},
    {"\"9223372036854775807\"", true, INT64_MAX},
    {"\"-9223372036854775808\"", true, INT64_MIN},
    {"\"9223372036854775808\"", false, 0},
    {"\"0\"", true, 0},
    {"\"-0\"", false, 0},
    {"\"007\"", false, 0},
    {"\"+1\"", false, 0},
    {"\" 1\"", false, 0},
    {"\"1 \"", false, 0},
    {"\"1.0\"", false, 0},
    {"\"\"", false, 0},
    {"\"-\"", false, 0},
    {"\"0x10\"", false, 0},
    {"true", false, 0},
    {"null", false, 0},
    {"[1]", false, 0},
};

START_TEST(reads_integers)
{
    for (size_t i = 0; i < HONE_COUNTOF(integers); i++) {
        HONE_AUTOJSON struct hone_json *value = parsed(integers[i].text);
        int64_t v = 77;
        ck_assert_msg(hone_json_as_i64(value, &v) == integers[i].is_i64, "%s", integers[i].text);
        ck_assert_int_eq(v, integers[i].is_i64 ? integers[i].i64 : 77);
    }
}
END_TEST

START_TEST(reads_members)
{
    HONE_AUTOJSON struct hone_json *v = parsed(
        "{\"s\":\"x\",\"n\":2.5,\"i\":3,\"b\":true,\"S\":\"other case\",\"z\":null,\"a\":[1,2]}");
    ck_assert_str_eq(hone_json_get_str(v, "s", "d"), "x");
    ck_assert_str_eq(hone_json_get_str(v, "n", "d"), "d");
    ck_assert_str_eq(hone_json_get_str(v, "none", "d"), "d");
    ck_assert_double_eq(hone_json_get_f64(v, "n", 0), 2.5);
    ck_assert_double_eq(hone_json_get_f64(v, "s", 7), 7);
    ck_assert_int_eq(hone_json_get_i64(v, "i", 0), 3);
    ck_assert_int_eq(hone_json_get_i64(v, "n", -1), -1);
    ck_assert(hone_json_get_bool(v, "b", false));
    ck_assert(hone_json_get_bool(v, "i", true));
    ck_assert_ptr_null(hone_json_get(v, "B"));
    ck_assert_int_eq(hone_json_type(hone_json_get(v, "z")), HONE_JSON_NULL);
    ck_assert_uint_eq(hone_json_size(v), 7);
    const struct hone_json *array = hone_json_get(v, "a");
    ck_assert_ptr_null(hone_json_key(hone_json_first(array)));
    ck_assert_str_eq(hone_json_key(hone_json_first(v)), "s");
    ck_assert_ptr_null(hone_json_get(array, "s"));
}
END_TEST

START_TEST(null_pointers)
{
    double d;
    int64_t i;
    bool b;
    ck_assert_ptr_null(hone_json_get(NULL, "a"));
    ck_assert_ptr_null(hone_json_str(NULL));
    ck_assert_ptr_null(hone_json_first(NULL));
    ck_assert_ptr_null(hone_json_next(NULL));
    ck_assert_ptr_null(hone_json_key(NULL));
    ck_assert_ptr_null(hone_json_copy(NULL));
    ck_assert_uint_eq(hone_json_size(NULL), 0);
    ck_assert_int_eq(hone_json_type(NULL), HONE_JSON_NULL);
    ck_assert(!hone_json_as_f64(NULL, &d) && !hone_json_as_i64(NULL, &i) &&
              !hone_json_as_bool(NULL, &b));
    hone_json_free(NULL);
    HONE_AUTOFREE char *text = hone_json_print(NULL);
    ck_assert_str_eq(text, "null");
}
END_TEST

/* ---- building ---- */

START_TEST(builds)
{
    HONE_AUTOJSON struct hone_json *v = hone_json_new_object();
    hone_json_set_str(v, "s",
                      "a\x01\xFF"
                      "b\xC3\xA9");
    hone_json_set_str(v, "null", NULL);
    hone_json_set_i64(v, "exact", 9007199254740992);
    hone_json_set_i64(v, "big", 9007199254740993);
    hone_json_set_i64(v, "least", INT64_MIN);
    hone_json_set_f64(v, "f", 0.1);
    hone_json_set_f64(v, "nan", (double)NAN);
    hone_json_set_f64(v, "inf", (double)INFINITY);
    hone_json_set_bool(v, "b", true);
    hone_json_set(v, "nothing", NULL);
    hone_json_set_str(v, "k\xFF", "bad key");
    struct hone_json *list = hone_json_new_array();
    hone_json_push(list, hone_json_new_i64(1));
    hone_json_push(list, NULL);
    hone_json_push(list, hone_json_new_null());
    hone_json_set(v, "list", list);
    hone_json_set_i64(v, "b", 2); /* replaces */
    HONE_AUTOFREE char *text = hone_json_print(v);
    ck_assert_str_eq(
        text, "{\"s\":\"a\\u0001\xEF\xBF\xBD"
              "b\xC3\xA9\",\"null\":null,\"exact\":9007199254740992,"
              "\"big\":\"9007199254740993\",\"least\":\"-9223372036854775808\",\"f\":0.1,"
              "\"nan\":null,\"inf\":null,\"k\xEF\xBF\xBD\":\"bad key\",\"list\":[1,null],\"b\":2}");
    HONE_AUTOJSON struct hone_json *again = parsed(text);
    ck_assert_int_eq(hone_json_get_i64(again, "big", 0), 9007199254740993);
}
END_TEST

START_TEST(detaches)
{
    HONE_AUTOJSON struct hone_json *v = parsed("{\"a\":{\"x\":1},\"b\":2}");
    HONE_AUTOJSON struct hone_json *a = hone_json_detach(v, "a");
    ck_assert_int_eq(hone_json_get_i64(a, "x", 0), 1);
    ck_assert_ptr_null(hone_json_detach(v, "a"));
    ck_assert_uint_eq(hone_json_size(v), 1);
}
END_TEST

START_TEST(prints_pretty)
{
    HONE_AUTOJSON struct hone_json *v = parsed("{\"a\":[1,{}],\"b\":[],\"c\":{\"d\":\"e\"}}");
    HONE_AUTOFREE char *text = hone_json_print_pretty(v);
    ck_assert_str_eq(
        text,
        "{\n  \"a\": [\n    1,\n    {}\n  ],\n  \"b\": [],\n  \"c\": {\n    \"d\": \"e\"\n  }\n}");
}
END_TEST

/* Doubles of random bits: the text reads back to the same bits and is never longer than needed. */
START_TEST(doubles_come_back)
{
    uint64_t state = 88172645463325252u;
    for (int i = 0; i < 20000; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        double d, back = 0;
        memcpy(&d, &state, sizeof(d));
        if (!isfinite(d))
            continue;
        HONE_AUTOJSON struct hone_json *v = hone_json_new_f64(d);
        HONE_AUTOFREE char *text = hone_json_print(v);
        HONE_AUTOJSON struct hone_json *again = parsed(text);
        ck_assert(hone_json_as_f64(again, &back));
        ck_assert_msg(memcmp(&d, &back, sizeof(d)) == 0, "%s", text);
        char shorter[40];
        snprintf(shorter, sizeof(shorter), "%.14g", d);
        ck_assert(strlen(text) <= strlen(shorter) + 3 || strtod(shorter, NULL) != d);
    }
}
END_TEST

UNIT_MAIN("json", takes, refuses, says_where, nul_bytes_and_cut_texts, depth_limit, bytes_limit,
          number_length_limit, many_members, reads_integers, reads_members, null_pointers, builds,
          detaches, prints_pretty, doubles_come_back)
