/* SPDX-License-Identifier: Apache-2.0 */
/* Between json.c, json_scan.c and json_print.c only. */
#ifndef HONE_BASE_JSON_INTERNAL_H
#define HONE_BASE_JSON_INTERNAL_H

#include "workspace/base/json.h"

/* Integers beyond this are not exact as doubles. */
#define HONE_JSON_EXACT (1ll << 53)

/* An integer literal that a double may not hold: the n_before-th number of the text (from 0). */
struct hone_json_big {
    size_t n_before;
    size_t offset, len;
};

struct hone_json_scan {
    struct hone_buf bigs; /* of struct hone_json_big, in order of the text */
};

/* Checks that text[0..len) is exactly one strict JSON value within the limits. */
int hone_json_scan(const char *text, size_t len, struct hone_json_scan *ret, struct hone_err *err);

/* The digits of a parsed integer beyond 2^53; NULL for every other value. */
const char *hone_json_digits(const struct hone_json *value);
/* A copy with U+FFFD for every byte that is not UTF-8, owned; NULL when text is valid as it is. */
char *hone_json_repaired(const char *text);

#endif
