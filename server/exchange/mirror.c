/* SPDX-License-Identifier: Apache-2.0 */
#include "server/exchange/mirror.h"

#include <stdlib.h>
#include <string.h>

static const char wrap_begin[] = "=?base64?", wrap_end[] = "?=";

static int six_bits(char c)
{
    static const char alphabet[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = c != '\0' ? strchr(alphabet, c) : NULL;
    return at != NULL ? (int)(at - alphabet) : -1;
}

/* RFC 4648 with its padding, and with nothing in the bits that it leaves over. Owned; NULL: it is not,
 * or holds a NUL. */
static char *decode(const char *text, size_t len)
{
    size_t n_pad = len >= 2 && text[len - 2] == '=' ? 2 : len >= 1 && text[len - 1] == '=' ? 1 : 0;
    uint32_t bits = 0;
    size_t n = 0;
    if (len % 4 != 0 || (n_pad == 2 && text[len - 1] != '='))
        return NULL;
    HONE_AUTOFREE char *bytes = hone_calloc(1, len / 4 * 3 + 1);
    for (size_t i = 0; i < len - n_pad; i++) {
        int six = six_bits(text[i]);
        if (six < 0)
            return NULL;
        bits = (bits << 6 | (uint32_t)six) & 0xffffff;
        if (i % 4 != 0)
            bytes[n++] = (char)(bits >> (6 - i % 4 * 2) & 0xff);
    }
    bool has_rest = (n_pad == 1 && (bits & 3) != 0) || (n_pad == 2 && (bits & 15) != 0);
    return has_rest || memchr(bytes, '\0', n) != NULL ? NULL : HONE_STEAL(bytes);
}

/* What the header says; owned. NULL: nothing that a header may say. */
static char *value_of(const char *header)
{
    size_t start = strspn(header, " \t"), len = strlen(header);
    size_t n_begin = sizeof(wrap_begin) - 1, n_end = sizeof(wrap_end) - 1;
    while (len > start && (header[len - 1] == ' ' || header[len - 1] == '\t'))
        len--;
    header += start;
    len -= start;
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)header[i] < 0x20 || (unsigned char)header[i] > 0x7e)
            return NULL;
    if (len < n_begin + n_end || strncmp(header, wrap_begin, n_begin) != 0 ||
        strncmp(header + len - n_end, wrap_end, n_end) != 0)
        return hone_strndup(header, len);
    return decode(header + n_begin, len - n_begin - n_end);
}

bool hone_mirror_is(const char *header, const char *want)
{
    HONE_AUTOFREE char *value = header != NULL ? value_of(header) : NULL;
    return value != NULL && strcmp(value, want) == 0;
}

static bool is_integer(const char *header, const struct hone_json *value)
{
    HONE_AUTOFREE char *text = value_of(header);
    HONE_AUTOJSON struct hone_json *number = NULL;
    int64_t said, meant;
    return text != NULL && hone_json_parse(text, strlen(text), &number, NULL) == 0 &&
           hone_json_type(number) == HONE_JSON_NUMBER && hone_json_as_i64(number, &said) &&
           hone_json_as_i64(value, &meant) && said == meant;
}

bool hone_mirror_agrees(const char *header, const struct hone_json *value)
{
    bool is_true;
    if (hone_json_type(value) == HONE_JSON_NULL)
        return header == NULL;
    if (header == NULL)
        return false;
    if (hone_json_str(value) != NULL)
        return hone_mirror_is(header, hone_json_str(value));
    if (hone_json_as_bool(value, &is_true))
        return hone_mirror_is(header, is_true ? "true" : "false");
    return is_integer(header, value);
}
