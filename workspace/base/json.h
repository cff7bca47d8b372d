/* SPDX-License-Identifier: Apache-2.0 */
/* JSON values. The only owner of cJSON: no other file includes its header.
 *
 * Parsing is strict where cJSON is lax: invalid UTF-8, raw control characters, "\u0000", leading
 * zeros, "1.", text after the value, duplicate keys, too deep nesting and too many bytes are errors
 * (HONE_E_ARG, HONE_E_LIMIT; path says where). Numbers: integers up to 2^53 print exactly. Beyond
 * that a parsed integer literal keeps its digits (as_i64 and print are exact, as_f64 rounds); one
 * that is built here becomes a string, because other readers keep doubles only. Numbers that no
 * double can hold (1e400) are errors. Values are trees with one owner; adding a value to an object
 * or array *moves* it. Not thread safe per tree. */
#ifndef HONE_BASE_JSON_H
#define HONE_BASE_JSON_H

#include "workspace/base/buf.h"

struct hone_json; /* opaque */

int hone_json_parse(const char *text, size_t len, struct hone_json **ret_value,
                    struct hone_err *err);
void hone_json_free(struct hone_json *value);
void hone_json_free_ptr(struct hone_json **value);
#define HONE_AUTOJSON HONE_CLEANUP(hone_json_free_ptr)

/* Compact text (one line) or indented; owned by the caller. */
char *hone_json_print(const struct hone_json *value);
char *hone_json_print_pretty(const struct hone_json *value);
/* One string as JSON, after what the buffer holds; invalid UTF-8 is replaced by U+FFFD. */
void hone_json_print_str(struct hone_buf *out, const char *text);
struct hone_json *hone_json_copy(const struct hone_json *value);

enum hone_json_type {
    HONE_JSON_NULL,
    HONE_JSON_BOOL,
    HONE_JSON_NUMBER,
    HONE_JSON_STRING,
    HONE_JSON_ARRAY,
    HONE_JSON_OBJECT
};
enum hone_json_type
hone_json_type(const struct hone_json *value); /* NULL pointer: HONE_JSON_NULL */

/* Reading. All accept NULL. Strings are borrowed from the tree. */
struct hone_json *hone_json_get(const struct hone_json *object,
                                const char *key);         /* borrowed; NULL: absent */
const char *hone_json_str(const struct hone_json *value); /* NULL if no string */
const char *hone_json_get_str(const struct hone_json *object, const char *key,
                              const char *fallback);
double hone_json_get_f64(const struct hone_json *object, const char *key, double fallback);
int64_t hone_json_get_i64(const struct hone_json *object, const char *key, int64_t fallback);
bool hone_json_get_bool(const struct hone_json *object, const char *key, bool fallback);
bool hone_json_as_f64(const struct hone_json *value, double *ret); /* false if no number */
bool hone_json_as_i64(const struct hone_json *value,
                      int64_t *ret); /* exact integer, or a string of one */
bool hone_json_as_bool(const struct hone_json *value, bool *ret);
size_t hone_json_size(const struct hone_json *array_or_object);
/* Iteration: for (c = hone_json_first(v); c; c = hone_json_next(c)); key is NULL inside arrays. */
struct hone_json *hone_json_first(const struct hone_json *array_or_object);
struct hone_json *hone_json_next(const struct hone_json *child);
const char *hone_json_key(const struct hone_json *child);

/* Building. Values passed in are moved; a NULL value adds nothing. Never fail (sizes are ours).
 * Non-finite numbers become null. */
struct hone_json *hone_json_new_object(void);
struct hone_json *hone_json_new_array(void);
struct hone_json *
hone_json_new_str(const char *text); /* invalid UTF-8 is replaced by U+FFFD; NULL: null */
struct hone_json *hone_json_new_i64(int64_t value); /* beyond +-2^53: a string */
struct hone_json *hone_json_new_f64(double value);  /* shortest text that reads back the same */
struct hone_json *hone_json_new_bool(bool value);
struct hone_json *hone_json_new_null(void);
void hone_json_set(struct hone_json *object, const char *key,
                   struct hone_json *value); /* replaces an old value */
void hone_json_set_str(struct hone_json *object, const char *key, const char *text);
void hone_json_set_i64(struct hone_json *object, const char *key, int64_t value);
void hone_json_set_f64(struct hone_json *object, const char *key, double value);
void hone_json_set_bool(struct hone_json *object, const char *key, bool value);
void hone_json_push(struct hone_json *array, struct hone_json *value);
struct hone_json *hone_json_detach(struct hone_json *object,
                                   const char *key); /* owned by the caller; NULL: absent */

#endif
