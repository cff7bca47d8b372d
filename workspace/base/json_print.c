/* SPDX-License-Identifier: Apache-2.0 */
#include "workspace/base/json_internal.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_string(struct hone_buf *out, const char *text)
{
    static const char short_forms[32] = {
        ['\b'] = 'b', ['\f'] = 'f', ['\n'] = 'n', ['\r'] = 'r', ['\t'] = 't'};
    hone_buf_str(out, "\"");
    const char *from = text;
    for (const char *p = text; *p != '\0'; p++) {
        unsigned char c = (unsigned char)*p;
        if (c >= 0x20 && c != '"' && c != '\\' && c != 0x7f)
            continue;
        hone_buf_add(out, from, (size_t)(p - from));
        from = p + 1;
        const char escape[2] = {'\\', c < 0x20 ? short_forms[c] : (char)c};
        if (escape[1] != '\0' && c != 0x7f)
            hone_buf_add(out, escape, sizeof(escape));
        else
            hone_buf_printf(out, "\\u%04x", c);
    }
    hone_buf_str(out, from);
    hone_buf_str(out, "\"");
}

void hone_json_print_str(struct hone_buf *out, const char *text)
{
    HONE_AUTOFREE char *copy = hone_json_repaired(text);
    print_string(out, copy != NULL ? copy : text);
}

static void print_number(struct hone_buf *out, const struct hone_json *value)
{
    const char *digits = hone_json_digits(value);
    double d = 0;
    hone_json_as_f64(value, &d);
    if (digits != NULL) {
        hone_buf_str(out, digits);
    } else if (fabs(d) <= (double)HONE_JSON_EXACT && floor(d) == d && !(d == 0 && signbit(d))) {
        hone_buf_printf(out, "%lld", (long long)d);
    } else {
        char text[40];
        /* A normal double gives back any 15 digits; a subnormal one holds fewer. */
        for (int precision = fabs(d) < DBL_MIN ? 1 : 15; precision <= 17; precision++) {
            snprintf(text, sizeof(text), "%.*g", precision, d);
            if (strtod(text, NULL) == d)
                break;
        }
        hone_buf_str(out, text);
    }
}

static void new_line(struct hone_buf *out, int depth)
{
    hone_buf_str(out, "\n");
    for (int i = 0; i < depth; i++)
        hone_buf_str(out, "  ");
}

/* depth < 0: compact */
static void print_value(struct hone_buf *out, const struct hone_json *value, int depth)
{
    enum hone_json_type type = hone_json_type(value);
    bool flag = false;
    switch (type) {
    case HONE_JSON_NULL:
        hone_buf_str(out, "null");
        return;
    case HONE_JSON_BOOL:
        hone_json_as_bool(value, &flag);
        hone_buf_str(out, flag ? "true" : "false");
        return;
    case HONE_JSON_NUMBER:
        print_number(out, value);
        return;
    case HONE_JSON_STRING:
        print_string(out, hone_json_str(value));
        return;
    case HONE_JSON_ARRAY:
    case HONE_JSON_OBJECT:
        break;
    }
    bool is_object = type == HONE_JSON_OBJECT, is_pretty = depth >= 0;
    const struct hone_json *first = hone_json_first(value);
    hone_buf_str(out, is_object ? "{" : "[");
    for (const struct hone_json *c = first; c != NULL; c = hone_json_next(c)) {
        if (c != first)
            hone_buf_str(out, ",");
        if (is_pretty)
            new_line(out, depth + 1);
        if (is_object) {
            print_string(out, hone_json_key(c));
            hone_buf_str(out, is_pretty ? ": " : ":");
        }
        print_value(out, c, is_pretty ? depth + 1 : depth);
    }
    if (is_pretty && first != NULL)
        new_line(out, depth);
    hone_buf_str(out, is_object ? "}" : "]");
}

static char *print(const struct hone_json *value, int depth)
{
    /* The tree is in memory already: its text is bounded by it. */
    struct hone_buf out = {.limit = SIZE_MAX / 4};
    print_value(&out, value, depth);
    HONE_BUG_ON(out.has_failed);
    return hone_buf_steal(&out);
}

char *hone_json_print(const struct hone_json *value)
{
    return print(value, -1);
}

char *hone_json_print_pretty(const struct hone_json *value)
{
    return print(value, 0);
}
