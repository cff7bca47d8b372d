/* SPDX-License-Identifier: Apache-2.0 */
/* Field tables: one const table per struct gives the JSON decoder, the encoder, the JSON schema
 * (2020-12) and the help text.
 *
 * The row's type is inferred from the struct member by _Generic, so a table that disagrees with its
 * struct does not compile. Member types and their JSON form:
 *
 *     bool                    true / false
 *     int64_t                 integer (or a string of digits, for values beyond 2^53)
 *     double                  number
 *     const char *            string; NULL when absent
 *     enum X                  string: .choices[value]; .fallback_i64 (0: the first word) when absent;
 *                             the word "" is that of "not given": never written, never accepted
 *     struct hone_strs        array of strings
 *     struct hone_i64s        array of integers
 *     struct hone_f64s        array of numbers
 *     struct hone_array       array of objects, described by .of / .n_of / .of_size
 *     struct hone_json *      any JSON (.json_schema may hold schema text); lives in the pool
 *     struct X *              (HONE_FIELD_OBJ) a nested struct, described by .of / .n_of / .of_size
 *
 * Decoding refuses unknown members, wrong types, missing required ones, values outside min..max,
 * strings longer than max_len or not in .choices; the error's path names the member
 * ("workloads[2].axes.M") and the message says what is accepted. Everything decoded lives in the
 * pool. Not set members take .fallback_* (zero, NULL, false when not given). */
#ifndef HONE_BASE_FIELDS_H
#define HONE_BASE_FIELDS_H

#include "workspace/base/json.h"

struct hone_strs {
    const char **v;
    size_t n;
};
struct hone_i64s {
    int64_t *v;
    size_t n;
};
struct hone_f64s {
    double *v;
    size_t n;
};
struct hone_array {
    void *v; /* n structs of .of_size bytes each, in a row */
    size_t n;
};

enum hone_field_type {
    HONE_FIELD_BOOL,
    HONE_FIELD_I64,
    HONE_FIELD_F64,
    HONE_FIELD_STR,
    HONE_FIELD_ENUM,
    HONE_FIELD_STRS,
    HONE_FIELD_I64S,
    HONE_FIELD_F64S,
    HONE_FIELD_ARRAY,
    HONE_FIELD_JSON,
    HONE_FIELD_OBJECT
};

struct hone_field {
    const char *name;
    enum hone_field_type type;
    size_t offset;
    const char *help; /* one sentence */
    const char *unit; /* "ms", "bytes"... or NULL */
    bool required;
    bool skip_empty;  /* encoder: leave out when NULL, empty, false or 0, unless required (NULL and
                         NaN are always left out) */
    bool is_secret;   /* never printed */
    bool is_hidden;   /* a former name: accepted, in no schema and no help */
    int64_t min, max; /* for numbers; both 0: no bound */
    size_t max_len; /* for strings and arrays; 0: HONE_LIMIT_FIELD_BYTES / HONE_LIMIT_FIELD_ITEMS */
    int64_t fallback_i64;
    double fallback_f64;
    bool fallback_bool;
    const char *fallback_str;
    const char *const *choices;  /* NULL-terminated list for strings and enums (indexed by value) */
    const struct hone_field *of; /* nested table */
    size_t n_of;
    size_t of_size;
    const char *json_schema; /* for HONE_FIELD_JSON: schema text; NULL means {} */
    const char
        *header; /* a tool's argument (bool, int64_t, string) that a client repeats in the HTTP
                           header Mcp-Param-HEADER; NULL: none */
};

/* clang-format off */
#define HONE_FIELD_TYPE_OF(member)                                                                 \
    _Generic((member), bool: HONE_FIELD_BOOL, int64_t: HONE_FIELD_I64, double: HONE_FIELD_F64,     \
             const char *: HONE_FIELD_STR, unsigned: HONE_FIELD_ENUM,                              \
             struct hone_strs: HONE_FIELD_STRS, struct hone_i64s: HONE_FIELD_I64S,                 \
             struct hone_f64s: HONE_FIELD_F64S, struct hone_array: HONE_FIELD_ARRAY,               \
             struct hone_json *: HONE_FIELD_JSON)
/* clang-format on */

/* One row: HONE_FIELD(struct verify_in, timeout_ms, .min = 1, .max = 60000, .unit = "ms", .help =
 * "Wall limit.") */
#define HONE_FIELD(type_, member_, ...)                                                            \
    {                                                                                              \
        .name = #member_, .type = HONE_FIELD_TYPE_OF(((type_ *)0)->member_),                       \
        .offset = offsetof(type_, member_), __VA_ARGS__                                            \
    }
/* A pointer to a nested struct. */
#define HONE_FIELD_OBJ(type_, member_, table_, ...)                                                \
    {                                                                                              \
        .name = #member_, .type = HONE_FIELD_OBJECT, .offset = offsetof(type_, member_),           \
        .of = (table_), .n_of = HONE_COUNTOF(table_), .of_size = sizeof(*((type_ *)0)->member_),   \
        __VA_ARGS__                                                                                \
    }
/* The nested part of an array-of-objects row: HONE_FIELD(struct t, inputs,
 * HONE_OF(struct tensor, tensor_fields)) */
#define HONE_OF(elem_type_, table_)                                                                \
    .of = (table_), .n_of = HONE_COUNTOF(table_), .of_size = sizeof(elem_type_)

/* Fills *ret_struct (zeroed first). HONE_E_ARG or HONE_E_LIMIT with err->path. */
int hone_fields_decode(const struct hone_json *object, const struct hone_field *fields,
                       size_t n_fields, void *ret_struct, size_t struct_size,
                       struct hone_pool *pool, struct hone_err *err);
/* The same for a record of another version of this program: unknown members are passed over, and
 * one that cannot be read, or that is missing, takes its fallback. False: it is no object. */
bool hone_fields_read(const struct hone_json *object, const struct hone_field *fields,
                      size_t n_fields, void *ret_struct, size_t struct_size,
                      struct hone_pool *pool);
/* Owned by the caller. HONE_FIELD_JSON members are copied. */
struct hone_json *hone_fields_encode(const void *from, const struct hone_field *fields,
                                     size_t n_fields);
/* {"type":"object","properties":...,"required":[...],"additionalProperties":false}; owned by the
 * caller. It tells a caller what to send; lengths and far bounds are only checked. */
struct hone_json *hone_fields_schema(const struct hone_field *fields, size_t n_fields);
/* Checks a value against a table without a struct: what the tests do with every tool result. */
int hone_fields_validate(const struct hone_json *object, const struct hone_field *fields,
                         size_t n_fields, struct hone_err *err);
/* One line per member: "  name  type  help (unit, default, range)". */
void hone_fields_help(const struct hone_field *fields, size_t n_fields, struct hone_buf *out);

#endif
