/* SPDX-License-Identifier: Apache-2.0 */
/* Field tables, inward: JSON checked against a table, and stored into the struct when there is one.
 *
 * Decode and validate are one walk: without a struct (base == NULL) nothing is stored. The only
 * difference in what they take is null, which a caller may send for "not given" but a result must
 * not contain. */
#include "workspace/base/fields.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include "workspace/base/limits.h"
#include "workspace/base/text.h"

#define NAMED_MAX  64 /* names among which a misspelt one is looked for */
#define NAME_SHOWN 64 /* bytes of a name in a path */

struct walk {
    char path[HONE_ERR_PATH_BYTES];
    struct hone_pool *pool; /* NULL: validate only */
    struct hone_err *err;
    bool is_lenient; /* what cannot be read is as if it were not there */
};

static const char *json_word(const struct hone_json *value)
{
    static const char *const words[] = {
        [HONE_JSON_NULL] = "null",       [HONE_JSON_BOOL] = "a boolean",
        [HONE_JSON_NUMBER] = "a number", [HONE_JSON_STRING] = "a string",
        [HONE_JSON_ARRAY] = "an array",  [HONE_JSON_OBJECT] = "an object",
    };
    return words[hone_json_type(value)];
}

/* Appends ".name" or "[index]" (name NULL); the result is the length to cut back to. */
static size_t enter(struct walk *w, const char *name, size_t index)
{
    size_t len = strlen(w->path), room = sizeof(w->path) - len, at = len;
    if (name == NULL) {
        snprintf(w->path + len, room, "[%zu]", index);
        return len;
    }
    if (len > 0 && at + 1 < sizeof(w->path))
        w->path[at++] = '.';
    size_t n = strnlen(name, NAME_SHOWN), left = sizeof(w->path) - 1 - at;
    n = n < left ? n : left;
    memcpy(w->path + at, name, n);
    w->path[at + n] = '\0';
    return len;
}

#define FAIL(w, code, fmt, ...)                                                                    \
    hone_fail_at((w)->err, code, (w)->path, "%s%s" fmt, (w)->path, (w)->path[0] ? ": " : "",       \
                 __VA_ARGS__)

static int wrong_type(struct walk *w, const char *want, const struct hone_json *got)
{
    return FAIL(w, HONE_E_ARG, "expected %s, got %s", want, json_word(got));
}

/* ---- single values ---- */

static bool has_max(const struct hone_field *f)
{
    return f->max > f->min || (f->max == f->min && f->max != 0) || (f->max == 0 && f->min < 0);
}

static bool has_min(const struct hone_field *f)
{
    return f->min != 0 || has_max(f);
}

static int out_of_range(struct walk *w, const struct hone_field *f, bool is_high, const char *got)
{
    const char *unit = f->unit ? f->unit : "", *gap = f->unit ? " " : "";
    if (is_high || has_max(f))
        return FAIL(w, HONE_E_ARG, "is %s, accepted are %lld to %lld%s%s", got, (long long)f->min,
                    (long long)f->max, gap, unit);
    return FAIL(w, HONE_E_ARG, "is %s, at least %lld%s%s is accepted", got, (long long)f->min, gap,
                unit);
}

static int read_i64(struct walk *w, const struct hone_field *f, const struct hone_json *value,
                    int64_t *ret)
{
    int64_t v;
    if (!hone_json_as_i64(value, &v)) {
        if (hone_json_type(value) == HONE_JSON_NUMBER)
            return FAIL(w, HONE_E_ARG, "expected %s", "an integer (64 bits), got another number");
        return wrong_type(w, "an integer", value);
    }
    bool is_low = has_min(f) && v < f->min, is_high = has_max(f) && v > f->max;
    if (is_low || is_high) {
        char got[32];
        snprintf(got, sizeof(got), "%lld", (long long)v);
        return out_of_range(w, f, is_high, got);
    }
    *ret = v;
    return 0;
}

static int read_f64(struct walk *w, const struct hone_field *f, const struct hone_json *value,
                    double *ret)
{
    double v;
    if (!hone_json_as_f64(value, &v))
        return wrong_type(w, "a number", value);
    bool is_low = has_min(f) && v < (double)f->min, is_high = has_max(f) && v > (double)f->max;
    if (is_low || is_high) {
        char got[40];
        snprintf(got, sizeof(got), "%g", v);
        return out_of_range(w, f, is_high, got);
    }
    *ret = v;
    return 0;
}

/* *ret: its number; may be NULL. */
static int check_choice(struct walk *w, const struct hone_field *f, const char *text, unsigned *ret)
{
    if (f->choices == NULL)
        return 0;
    HONE_CLEANUP(hone_buf_done) struct hone_buf list = {.limit = HONE_ERR_MESSAGE_BYTES};
    for (size_t i = 0; f->choices[i] != NULL; i++) {
        if (f->type == HONE_FIELD_ENUM && f->choices[i][0] == '\0')
            continue;
        if (strcmp(f->choices[i], text) == 0) {
            if (ret != NULL)
                *ret = (unsigned)i;
            return 0;
        }
        hone_buf_printf(&list, "%s%s", list.len ? ", " : "", f->choices[i]);
    }
    return FAIL(w, HONE_E_ARG, "'%.60s' is not one of: %s", text, list.data ? list.data : "");
}

static int read_str(struct walk *w, const struct hone_field *f, size_t max,
                    const struct hone_json *value, const char **ret)
{
    const char *text = hone_json_str(value);
    if (text == NULL)
        return wrong_type(w, "a string", value);
    size_t len = strlen(text);
    if (len > max)
        return FAIL(w, HONE_E_LIMIT, "is %zu bytes, at most %zu are accepted", len, max);
    int rc = check_choice(w, f, text, NULL);
    if (rc == 0 && w->pool != NULL)
        *ret = hone_pool_strndup(w->pool, text, len);
    return rc;
}

static int read_enum(struct walk *w, const struct hone_field *f, const struct hone_json *value,
                     unsigned *ret)
{
    const char *text = hone_json_str(value);
    return text == NULL ? wrong_type(w, "a string", value) : check_choice(w, f, text, ret);
}

/* ---- lists and nested structs ---- */

static int walk_object(struct walk *w, const struct hone_json *object,
                       const struct hone_field *fields, size_t n_fields, void *base);

static int read_item(struct walk *w, const struct hone_field *f, const struct hone_json *value,
                     void *items, size_t i)
{
    int64_t i64;
    double f64;
    const char *str = NULL;
    int rc;
    if (f->type == HONE_FIELD_STRS) {
        rc = read_str(w, f, HONE_LIMIT_FIELD_BYTES, value, &str);
        if (rc == 0 && items != NULL)
            ((const char **)items)[i] = str;
    } else if (f->type == HONE_FIELD_I64S) {
        rc = read_i64(w, f, value, &i64);
        if (rc == 0 && items != NULL)
            ((int64_t *)items)[i] = i64;
    } else if (f->type == HONE_FIELD_F64S) {
        rc = read_f64(w, f, value, &f64);
        if (rc == 0 && items != NULL)
            ((double *)items)[i] = f64;
    } else {
        void *at = items ? (unsigned char *)items + i * f->of_size : NULL;
        rc = walk_object(w, value, f->of, f->n_of, at);
    }
    return rc;
}

static size_t item_size(const struct hone_field *f)
{
    if (f->type == HONE_FIELD_STRS)
        return sizeof(const char *);
    if (f->type == HONE_FIELD_I64S)
        return sizeof(int64_t);
    return f->type == HONE_FIELD_F64S ? sizeof(double) : f->of_size;
}

static int read_list(struct walk *w, const struct hone_field *f, const struct hone_json *value,
                     void *member)
{
    if (hone_json_type(value) != HONE_JSON_ARRAY)
        return wrong_type(w, "an array", value);
    size_t n = hone_json_size(value), max = f->max_len ? f->max_len : HONE_LIMIT_FIELD_ITEMS, i = 0;
    if (n > max)
        return FAIL(w, HONE_E_LIMIT, "has %zu items, at most %zu are accepted", n, max);
    void *items = member && n ? hone_pool_alloc(w->pool, n * item_size(f)) : NULL;
    for (struct hone_json *c = hone_json_first(value); c != NULL; c = hone_json_next(c), i++) {
        size_t cut = enter(w, NULL, i);
        int rc = read_item(w, f, c, items, i);
        if (rc < 0)
            return rc;
        w->path[cut] = '\0';
    }
    if (member != NULL) {
        struct hone_array list = {.v = items, .n = n};
        memcpy(member, &list, sizeof(list));
    }
    return 0;
}

/* The four list structs are one pointer and one count, so that one store serves all. */
#define SAME_AS_ARRAY(type)                                                                        \
    _Static_assert(sizeof(type) == sizeof(struct hone_array) &&                                    \
                       offsetof(type, n) == offsetof(struct hone_array, n),                        \
                   "lists have one layout")
SAME_AS_ARRAY(struct hone_strs);
SAME_AS_ARRAY(struct hone_i64s);
SAME_AS_ARRAY(struct hone_f64s);

static void free_json(void *value)
{
    hone_json_free(value);
}

static int read_object(struct walk *w, const struct hone_field *f, const struct hone_json *value,
                       void *member)
{
    void *nested = member ? hone_pool_alloc(w->pool, f->of_size) : NULL;
    int rc = walk_object(w, value, f->of, f->n_of, nested);
    if (rc == 0 && member != NULL)
        memcpy(member, &nested, sizeof(nested));
    return rc;
}

static int read_bool(struct walk *w, const struct hone_json *value, bool *ret)
{
    return hone_json_as_bool(value, ret) ? 0 : wrong_type(w, "true or false", value);
}

static int read_member(struct walk *w, const struct hone_field *f, const struct hone_json *value,
                       void *member)
{
    union {
        bool b;
        int64_t i64;
        double f64;
        const char *str;
        unsigned number;
        struct hone_json *json;
    } v = {.i64 = 0};
    size_t size = 0;
    int rc = 0;
    switch (f->type) {
    case HONE_FIELD_BOOL:
        size = sizeof(v.b);
        rc = read_bool(w, value, &v.b);
        break;
    case HONE_FIELD_I64:
        size = sizeof(v.i64);
        rc = read_i64(w, f, value, &v.i64);
        break;
    case HONE_FIELD_F64:
        size = sizeof(v.f64);
        rc = read_f64(w, f, value, &v.f64);
        break;
    case HONE_FIELD_STR:
        size = sizeof(v.str);
        rc = read_str(w, f, f->max_len ? f->max_len : HONE_LIMIT_FIELD_BYTES, value, &v.str);
        break;
    case HONE_FIELD_ENUM:
        size = sizeof(v.number);
        rc = read_enum(w, f, value, &v.number);
        break;
    case HONE_FIELD_JSON:
        size = sizeof(v.json);
        if (member != NULL) {
            v.json = hone_json_copy(value);
            hone_pool_defer(w->pool, free_json, v.json);
        }
        break;
    case HONE_FIELD_OBJECT:
        return read_object(w, f, value, member);
    case HONE_FIELD_STRS:
    case HONE_FIELD_I64S:
    case HONE_FIELD_F64S:
    case HONE_FIELD_ARRAY:
        return read_list(w, f, value, member);
    }
    if (rc == 0 && member != NULL)
        memcpy(member, &v, size);
    return rc;
}

static void set_fallback(const struct hone_field *f, void *member)
{
    unsigned number = (unsigned)f->fallback_i64;
    if (f->type == HONE_FIELD_BOOL)
        memcpy(member, &f->fallback_bool, sizeof(bool));
    else if (f->type == HONE_FIELD_I64)
        memcpy(member, &f->fallback_i64, sizeof(int64_t));
    else if (f->type == HONE_FIELD_F64)
        memcpy(member, &f->fallback_f64, sizeof(double));
    else if (f->type == HONE_FIELD_STR)
        memcpy(member, &f->fallback_str, sizeof(const char *));
    else if (f->type == HONE_FIELD_ENUM)
        memcpy(member, &number, sizeof(number));
}

static const struct hone_field *find(const struct hone_field *fields, size_t n_fields,
                                     const char *name)
{
    for (size_t i = 0; i < n_fields; i++)
        if (strcmp(fields[i].name, name) == 0)
            return &fields[i];
    return NULL;
}

static int unknown_member(struct walk *w, const char *name, const struct hone_field *fields,
                          size_t n_fields)
{
    HONE_CLEANUP(hone_buf_done) struct hone_buf list = {.limit = HONE_ERR_MESSAGE_BYTES};
    const char *names[NAMED_MAX], *nearest;
    size_t n = 0;
    for (size_t i = 0; i < n_fields; i++)
        if (!fields[i].is_hidden) {
            hone_buf_printf(&list, "%s%s", list.len > 0 ? ", " : "", fields[i].name);
            if (n < NAMED_MAX)
                names[n++] = fields[i].name;
        }
    nearest = strlen(name) <= HONE_LIMIT_NAME_BYTES ? hone_plain_nearest(name, names, n) : NULL;
    enter(w, name, 0);
    if (nearest != NULL)
        return FAIL(w, HONE_E_ARG, "is not known here; did you mean %s? Known are: %s", nearest,
                    list.data);
    return FAIL(w, HONE_E_ARG, "is not known here; known are: %s", list.data ? list.data : "none");
}

static int walk_object(struct walk *w, const struct hone_json *object,
                       const struct hone_field *fields, size_t n_fields, void *base)
{
    if (hone_json_type(object) != HONE_JSON_OBJECT)
        return wrong_type(w, "an object", object);
    for (struct hone_json *c = hone_json_first(object); c != NULL; c = hone_json_next(c))
        if (!w->is_lenient && find(fields, n_fields, hone_json_key(c)) == NULL)
            return unknown_member(w, hone_json_key(c), fields, n_fields);
    for (size_t i = 0; i < n_fields; i++) {
        const struct hone_field *f = &fields[i];
        const struct hone_json *value = hone_json_get(object, f->name);
        void *member = base ? (unsigned char *)base + f->offset : NULL;
        size_t cut = enter(w, f->name, 0);
        if (base != NULL && value != NULL && hone_json_type(value) == HONE_JSON_NULL &&
            f->type != HONE_FIELD_JSON && !f->required)
            value = NULL;
        int rc = value != NULL ? read_member(w, f, value, member) : 0;
        if (rc < 0 && !w->is_lenient)
            return rc;
        if (rc == 0 && value != NULL) {
            w->path[cut] = '\0';
        } else if (f->required && !w->is_lenient) {
            return FAIL(w, HONE_E_ARG, "is required%s%s", f->help ? ": " : "",
                        f->help ? f->help : "");
        } else if (member != NULL) {
            set_fallback(f, member);
        }
        w->path[cut] = '\0';
    }
    return 0;
}

int hone_fields_decode(const struct hone_json *object, const struct hone_field *fields,
                       size_t n_fields, void *ret_struct, size_t struct_size,
                       struct hone_pool *pool, struct hone_err *err)
{
    struct walk w = {.pool = pool, .err = err};
    /* Decoded apart, because outputs stay untouched on failure. */
    void *fresh = hone_pool_alloc(pool, struct_size);
    int rc = walk_object(&w, object, fields, n_fields, fresh);
    if (rc == 0)
        memcpy(ret_struct, fresh, struct_size);
    return rc;
}

bool hone_fields_read(const struct hone_json *object, const struct hone_field *fields,
                      size_t n_fields, void *ret_struct, size_t struct_size, struct hone_pool *pool)
{
    struct walk w = {.pool = pool, .is_lenient = true};
    void *fresh = hone_pool_alloc(pool, struct_size);
    bool is_object = walk_object(&w, object, fields, n_fields, fresh) == 0;
    if (is_object)
        memcpy(ret_struct, fresh, struct_size);
    return is_object;
}

int hone_fields_validate(const struct hone_json *object, const struct hone_field *fields,
                         size_t n_fields, struct hone_err *err)
{
    struct walk w = {.pool = NULL, .err = err};
    return walk_object(&w, object, fields, n_fields, NULL);
}
