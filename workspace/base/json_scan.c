/* SPDX-License-Identifier: Apache-2.0 */
/* The strict reader that runs before cJSON sees a text: grammar of RFC 8259,
 * UTF-8, nesting, "\u0000".
 *
 * It builds nothing; it also notes integer literals too long for a double, whose
 * digits json.c keeps. */
#include "workspace/base/json_internal.h"

#include <stdio.h>
#include <string.h>
#include "workspace/base/limits.h"
#include "workspace/base/utf8.h"

/* cJSON cuts number literals at 63 bytes. */
#define NUMBER_BYTES 63
/* A literal of at most 15 digits is below 2^53. */
#define SAFE_DIGITS 15

struct scan {
    const char *text;
    size_t len, at, n_numbers;
    struct hone_buf *bigs;
    struct hone_err *err;
};

static int fail(struct scan *s, enum hone_code code, size_t at, const char *what)
{
    size_t line = 1, column = 1;
    for (size_t i = 0; i < at && i < s->len; i++) {
        column++;
        if (s->text[i] == '\n') {
            line++;
            column = 1;
        }
    }
    char path[64];
    snprintf(path, sizeof(path), "line %zu column %zu", line, column);
    return hone_fail_at(s->err, code, path, "JSON, %s: %s", path, what);
}

static int peek(const struct scan *s)
{
    return s->at < s->len ? (unsigned char)s->text[s->at] : -1;
}

static void skip_space(struct scan *s)
{
    for (;;) {
        int c = peek(s);
        if (c != ' ' && c != '\t' && c != '\n' && c != '\r')
            return;
        s->at++;
    }
}

static bool is_digit(int c)
{
    return c >= '0' && c <= '9';
}

static size_t skip_digits(struct scan *s)
{
    size_t from = s->at;
    while (is_digit(peek(s)))
        s->at++;
    return s->at - from;
}

static int scan_number(struct scan *s)
{
    size_t from = s->at;
    if (peek(s) == '-')
        s->at++;
    bool has_zero = peek(s) == '0';
    size_t digits = skip_digits(s);
    if (digits == 0)
        return fail(s, HONE_E_ARG, from, "a number needs a digit after '-'");
    if (has_zero && digits > 1)
        return fail(s, HONE_E_ARG, from, "a number must not start with 0");
    bool is_integer = true;
    if (peek(s) == '.') {
        is_integer = false;
        s->at++;
        if (skip_digits(s) == 0)
            return fail(s, HONE_E_ARG, s->at, "a digit must follow '.'");
    }
    if (peek(s) == 'e' || peek(s) == 'E') {
        is_integer = false;
        s->at++;
        if (peek(s) == '+' || peek(s) == '-')
            s->at++;
        if (skip_digits(s) == 0)
            return fail(s, HONE_E_ARG, s->at, "a digit must follow the exponent's 'e'");
    }
    if (s->at - from > NUMBER_BYTES)
        return fail(s, HONE_E_LIMIT, from, "a number has more than 63 characters");
    if (is_integer && digits > SAFE_DIGITS) {
        struct hone_json_big big = {s->n_numbers, from, s->at - from};
        hone_buf_add(s->bigs, &big, sizeof(big));
    }
    s->n_numbers++;
    return 0;
}

/* The four digits of \uXXXX, with s->at on the first; -1 when they are not there. */
static int scan_hex4(struct scan *s)
{
    int value = 0;
    for (int i = 0; i < 4; i++) {
        int c = peek(s), digit;
        if (is_digit(c))
            digit = c - '0';
        else if (c >= 'a' && c <= 'f')
            digit = c - 'a' + 10;
        else if (c >= 'A' && c <= 'F')
            digit = c - 'A' + 10;
        else
            return -1;
        value = value * 16 + digit;
        s->at++;
    }
    return value;
}

/* s->at is on the 'u'. */
static int scan_unicode(struct scan *s)
{
    size_t from = s->at - 1;
    s->at++;
    int unit = scan_hex4(s);
    if (unit < 0)
        return fail(s, HONE_E_ARG, from, "four hex digits must follow \\u");
    if (unit == 0)
        return fail(s, HONE_E_ARG, from, "\\u0000 is not accepted in a string");
    if (unit >= 0xDC00 && unit <= 0xDFFF)
        return fail(s, HONE_E_ARG, from, "a low surrogate without a high one before it");
    if (unit < 0xD800 || unit > 0xDBFF)
        return 0;
    if (s->len - s->at < 2 || memcmp(s->text + s->at, "\\u", 2) != 0)
        return fail(s, HONE_E_ARG, from, "a high surrogate without a low one after it");
    s->at += 2;
    unit = scan_hex4(s);
    if (unit < 0xDC00 || unit > 0xDFFF)
        return fail(s, HONE_E_ARG, from, "a high surrogate without a low one after it");
    return 0;
}

/* s->at is on the opening quote. */
static int scan_string(struct scan *s)
{
    size_t from = s->at++;
    for (;;) {
        int c = peek(s);
        if (c < 0)
            return fail(s, HONE_E_ARG, from, "a string is not closed");
        if (c == '"') {
            s->at++;
            return 0;
        }
        if (c < 0x20)
            return fail(s, HONE_E_ARG, s->at,
                        "a raw control character in a string (write \\n, \\t, \\u00..)");
        if (c == '\\') {
            s->at++;
            c = peek(s);
            if (c == 'u') {
                int rc = scan_unicode(s);
                if (rc < 0)
                    return rc;
            } else if (c > 0 && strchr("\"\\/bfnrt", c) != NULL) {
                s->at++;
            } else {
                return fail(s, HONE_E_ARG, s->at, "an unknown escape in a string");
            }
            continue;
        }
        size_t n = hone_utf8_char(s->text + s->at, s->len - s->at);
        if (n == 0)
            return fail(s, HONE_E_ARG, s->at, "bytes that are not UTF-8");
        s->at += n;
    }
}

static int scan_value(struct scan *s, int depth);

/* Members of an object or items of an array, from the opening bracket to the closing one. */
static int scan_list(struct scan *s, int depth, bool is_object)
{
    const int close = is_object ? '}' : ']';
    if (depth >= HONE_LIMIT_JSON_DEPTH)
        return fail(s, HONE_E_LIMIT, s->at, "nested deeper than 64 levels");
    s->at++;
    skip_space(s);
    if (peek(s) == close) {
        s->at++;
        return 0;
    }
    for (;;) {
        int rc;
        skip_space(s);
        if (is_object) {
            if (peek(s) != '"')
                return fail(s, HONE_E_ARG, s->at, "expected a member name in quotes");
            rc = scan_string(s);
            if (rc < 0)
                return rc;
            skip_space(s);
            if (peek(s) != ':')
                return fail(s, HONE_E_ARG, s->at, "expected ':' after a member name");
            s->at++;
        }
        rc = scan_value(s, depth + 1);
        if (rc < 0)
            return rc;
        skip_space(s);
        if (peek(s) == close) {
            s->at++;
            return 0;
        }
        if (peek(s) != ',')
            return fail(s, HONE_E_ARG, s->at,
                        is_object ? "expected ',' or '}'" : "expected ',' or ']'");
        s->at++;
    }
}

static int scan_word(struct scan *s)
{
    static const char *const words[] = {"true", "false", "null"};
    for (size_t i = 0; i < HONE_COUNTOF(words); i++) {
        size_t n = strlen(words[i]);
        if (s->len - s->at >= n && memcmp(s->text + s->at, words[i], n) == 0) {
            s->at += n;
            return 0;
        }
    }
    return fail(s, HONE_E_ARG, s->at, "expected a value");
}

static int scan_value(struct scan *s, int depth)
{
    skip_space(s);
    int c = peek(s);
    if (c == '{' || c == '[')
        return scan_list(s, depth, c == '{');
    if (c == '"')
        return scan_string(s);
    if (c == '-' || is_digit(c))
        return scan_number(s);
    if (c < 0)
        return fail(s, HONE_E_ARG, s->at, "the text ends where a value is expected");
    return scan_word(s);
}

int hone_json_scan(const char *text, size_t len, struct hone_json_scan *ret, struct hone_err *err)
{
    struct scan s = {.text = text, .len = len, .bigs = &ret->bigs, .err = err};
    if (len > HONE_LIMIT_JSON_BYTES)
        return hone_fail(err, HONE_E_LIMIT, "JSON text is %zu bytes, at most %u are accepted", len,
                         HONE_LIMIT_JSON_BYTES);
    int rc = scan_value(&s, 0);
    if (rc < 0)
        return rc;
    skip_space(&s);
    if (s.at != len)
        return fail(&s, HONE_E_ARG, s.at, "text after the value");
    return hone_buf_check(&ret->bigs, err);
}
