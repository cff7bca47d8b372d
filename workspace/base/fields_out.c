/* SPDX-License-Identifier: Apache-2.0 */
/* Field tables, outward: struct to JSON, table to JSON schema, table to help text. */
#include "workspace/base/fields.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- encoder ---- */

static struct hone_json *encode_list(const struct hone_field *f, const struct hone_array *list)
{
    if (list->n == 0 && f->skip_empty && !f->required)
        return NULL;
    struct hone_json *out = hone_json_new_array();
    for (size_t i = 0; i < list->n; i++) {
        struct hone_json *item;
        if (f->type == HONE_FIELD_STRS)
            item = hone_json_new_str(((const char *const *)list->v)[i]);
        else if (f->type == HONE_FIELD_I64S)
            item = hone_json_new_i64(((const int64_t *)list->v)[i]);
        else if (f->type == HONE_FIELD_F64S)
            item = hone_json_new_f64(((const double *)list->v)[i]);
        else
            item =
                hone_fields_encode((const unsigned char *)list->v + i * f->of_size, f->of, f->n_of);
        hone_json_push(out, item);
    }
    return out;
}

/* "" is the word of "not given": of enums alone. */
static bool is_shown(const struct hone_field *f, const char *word)
{
    return f->type != HONE_FIELD_ENUM || word[0] != '\0';
}

static const char *word_of(const struct hone_field *f, size_t number)
{
    size_t n = 0;
    while (n < number && f->choices[n] != NULL)
        n++;
    HONE_BUG_ON(f->choices[n] == NULL); /* a value of ours that is no enumerator */
    return f->choices[n];
}

/* NULL: the member is left out. */
static struct hone_json *encode_member(const struct hone_field *f, const void *member)
{
    union {
        bool b;
        int64_t i64;
        double f64;
        const char *str;
        unsigned number;
        struct hone_json *json;
        const void *nested;
        struct hone_array list;
    } v;
    const bool skip = f->skip_empty && !f->required;
    switch (f->type) {
    case HONE_FIELD_BOOL:
        memcpy(&v.b, member, sizeof(v.b));
        return skip && !v.b ? NULL : hone_json_new_bool(v.b);
    case HONE_FIELD_I64:
        memcpy(&v.i64, member, sizeof(v.i64));
        return skip && v.i64 == 0 ? NULL : hone_json_new_i64(v.i64);
    case HONE_FIELD_F64:
        memcpy(&v.f64, member, sizeof(v.f64));
        if (!isfinite(v.f64) || (skip && v.f64 == 0))
            return NULL;
        return hone_json_new_f64(v.f64);
    case HONE_FIELD_STR:
        memcpy(&v.str, member, sizeof(v.str));
        if (v.str == NULL || (skip && v.str[0] == '\0'))
            return NULL;
        return hone_json_new_str(v.str);
    case HONE_FIELD_ENUM:
        memcpy(&v.number, member, sizeof(v.number));
        if ((skip && v.number == 0) || !is_shown(f, word_of(f, v.number)))
            return NULL;
        return hone_json_new_str(word_of(f, v.number));
    case HONE_FIELD_JSON:
        memcpy(&v.json, member, sizeof(v.json));
        return hone_json_copy(v.json);
    case HONE_FIELD_OBJECT:
        memcpy(&v.nested, member, sizeof(v.nested));
        return v.nested ? hone_fields_encode(v.nested, f->of, f->n_of) : NULL;
    case HONE_FIELD_STRS:
    case HONE_FIELD_I64S:
    case HONE_FIELD_F64S:
    case HONE_FIELD_ARRAY:
        memcpy(&v.list, member, sizeof(v.list));
        return encode_list(f, &v.list);
    }
    return NULL;
}

struct hone_json *hone_fields_encode(const void *from, const struct hone_field *fields,
                                     size_t n_fields)
{
    struct hone_json *out = hone_json_new_object();
    for (size_t i = 0; i < n_fields; i++)
        if (!fields[i].is_secret)
            hone_json_set(
                out, fields[i].name,
                encode_member(&fields[i], (const unsigned char *)from + fields[i].offset));
    return out;
}

/* ---- schema ---- */

static bool has_max(const struct hone_field *f)
{
    return f->max > f->min || (f->max == f->min && f->max != 0) || (f->max == 0 && f->min < 0);
}

/* Bounds that guide a choice. A cap of millions only guards, a count that starts at zero says
 * nothing, and lengths are checked when a value comes: each would cost every reader of the schema.
 * Nor does a bound beyond 2^53 travel as a number. */
static bool is_guidance(int64_t bound)
{
    return bound >= -1000000 && bound <= 1000000;
}

static void put_range(struct hone_json *schema, const struct hone_field *f)
{
    if (f->min != 0 && is_guidance(f->min))
        hone_json_set_i64(schema, "minimum", f->min);
    if (has_max(f) && is_guidance(f->max))
        hone_json_set_i64(schema, "maximum", f->max);
}

static void put_choices(struct hone_json *schema, const struct hone_field *f)
{
    if (f->choices == NULL)
        return;
    struct hone_json *list = hone_json_new_array();
    for (size_t i = 0; f->choices[i] != NULL; i++)
        if (is_shown(f, f->choices[i]))
            hone_json_push(list, hone_json_new_str(f->choices[i]));
    hone_json_set(schema, "enum", list);
}

static struct hone_json *typed(const char *type)
{
    struct hone_json *schema = hone_json_new_object();
    hone_json_set_str(schema, "type", type);
    return schema;
}

static struct hone_json *list_schema(const struct hone_field *f)
{
    struct hone_json *items = NULL;
    if (f->type == HONE_FIELD_ARRAY) {
        items = hone_fields_schema(f->of, f->n_of);
    } else if (f->type == HONE_FIELD_STRS) {
        items = typed("string");
        put_choices(items, f);
    } else {
        items = typed(f->type == HONE_FIELD_I64S ? "integer" : "number");
        put_range(items, f);
    }
    struct hone_json *schema = typed("array");
    hone_json_set(schema, "items", items);
    return schema;
}

static struct hone_json *any_schema(const struct hone_field *f)
{
    struct hone_json *schema = NULL;
    if (f->json_schema == NULL)
        return hone_json_new_object();
    /* The text is part of a const table: a bad one is our bug. */
    HONE_BUG_ON(hone_json_parse(f->json_schema, strlen(f->json_schema), &schema, NULL) < 0);
    return schema;
}

/* "timeout_ms" says it by its name. */
static bool says_unit(const struct hone_field *f)
{
    size_t name = strlen(f->name), unit = strlen(f->unit);
    return name > unit && f->name[name - unit - 1] == '_' &&
           strcmp(f->name + name - unit, f->unit) == 0;
}

static struct hone_json *member_schema(const struct hone_field *f)
{
    struct hone_json *schema = NULL;
    switch (f->type) {
    case HONE_FIELD_BOOL:
        schema = typed("boolean");
        if (!f->required && f->fallback_bool)
            hone_json_set_bool(schema, "default", true);
        break;
    case HONE_FIELD_I64:
        schema = typed("integer");
        put_range(schema, f);
        if (!f->required && f->fallback_i64 != 0)
            hone_json_set(schema, "default", hone_json_new_i64(f->fallback_i64));
        break;
    case HONE_FIELD_F64:
        schema = typed("number");
        put_range(schema, f);
        if (!f->required && f->fallback_f64 != 0 && isfinite(f->fallback_f64))
            hone_json_set_f64(schema, "default", f->fallback_f64);
        break;
    case HONE_FIELD_STR:
        schema = typed("string");
        put_choices(schema, f);
        if (!f->required && f->fallback_str != NULL)
            hone_json_set_str(schema, "default", f->fallback_str);
        break;
    case HONE_FIELD_ENUM:
        schema = typed("string");
        put_choices(schema, f);
        if (!f->required && is_shown(f, word_of(f, (size_t)f->fallback_i64)))
            hone_json_set_str(schema, "default", word_of(f, (size_t)f->fallback_i64));
        break;
    case HONE_FIELD_JSON:
        schema = any_schema(f);
        break;
    case HONE_FIELD_OBJECT:
        schema = hone_fields_schema(f->of, f->n_of);
        break;
    case HONE_FIELD_STRS:
    case HONE_FIELD_I64S:
    case HONE_FIELD_F64S:
    case HONE_FIELD_ARRAY:
        schema = list_schema(f);
        break;
    }
    if (f->is_secret)
        hone_json_set_bool(schema, "writeOnly", true);
    if (f->header != NULL)
        hone_json_set_str(schema, "x-mcp-header", f->header);
    if (f->help != NULL && f->unit != NULL && !says_unit(f)) {
        HONE_AUTOFREE char *text = hone_sprintf("%s [%s]", f->help, f->unit);
        hone_json_set_str(schema, "description", text);
    } else if (f->help != NULL) {
        hone_json_set_str(schema, "description", f->help);
    }
    return schema;
}

struct hone_json *hone_fields_schema(const struct hone_field *fields, size_t n_fields)
{
    struct hone_json *schema = typed("object"), *properties = hone_json_new_object();
    struct hone_json *required = hone_json_new_array();
    for (size_t i = 0; i < n_fields; i++) {
        if (fields[i].is_hidden)
            continue;
        hone_json_set(properties, fields[i].name, member_schema(&fields[i]));
        if (fields[i].required)
            hone_json_push(required, hone_json_new_str(fields[i].name));
    }
    hone_json_set(schema, "properties", properties);
    if (hone_json_size(required) > 0)
        hone_json_set(schema, "required", HONE_STEAL(required));
    hone_json_free(required);
    hone_json_set_bool(schema, "additionalProperties", false);
    return schema;
}

/* ---- help ---- */

static const char *const type_words[] = {
    [HONE_FIELD_BOOL] = "bool",     [HONE_FIELD_I64] = "integer",   [HONE_FIELD_F64] = "number",
    [HONE_FIELD_STR] = "string",    [HONE_FIELD_STRS] = "strings",  [HONE_FIELD_I64S] = "integers",
    [HONE_FIELD_F64S] = "numbers",  [HONE_FIELD_ARRAY] = "objects", [HONE_FIELD_JSON] = "json",
    [HONE_FIELD_OBJECT] = "object", [HONE_FIELD_ENUM] = "string",
};

/* The facts in brackets at the end of a help line. */
static void put_facts(struct hone_buf *facts, const struct hone_field *f)
{
    if (f->required)
        hone_buf_str(facts, ", required");
    if (f->unit != NULL)
        hone_buf_printf(facts, ", %s", f->unit);
    if (!f->required && f->type == HONE_FIELD_I64 && f->fallback_i64 != 0)
        hone_buf_printf(facts, ", default %lld", (long long)f->fallback_i64);
    if (!f->required && f->type == HONE_FIELD_F64 && f->fallback_f64 != 0 &&
        isfinite(f->fallback_f64))
        hone_buf_printf(facts, ", default %g", f->fallback_f64);
    if (!f->required && f->type == HONE_FIELD_BOOL && f->fallback_bool)
        hone_buf_str(facts, ", default true");
    if (!f->required && f->type == HONE_FIELD_STR && f->fallback_str != NULL && !f->is_secret)
        hone_buf_printf(facts, ", default %s", f->fallback_str);
    if (!f->required && f->type == HONE_FIELD_ENUM &&
        is_shown(f, word_of(f, (size_t)f->fallback_i64)))
        hone_buf_printf(facts, ", default %s", word_of(f, (size_t)f->fallback_i64));
    if (has_max(f))
        hone_buf_printf(facts, ", %lld to %lld", (long long)f->min, (long long)f->max);
    else if (f->min != 0)
        hone_buf_printf(facts, ", at least %lld", (long long)f->min);
    const char *gap = ", ";
    for (size_t i = 0; f->choices != NULL && f->choices[i] != NULL; i++) {
        if (is_shown(f, f->choices[i])) {
            hone_buf_printf(facts, "%s%s", gap, f->choices[i]);
            gap = "|";
        }
    }
}

void hone_fields_help(const struct hone_field *fields, size_t n_fields, struct hone_buf *out)
{
    size_t width = 0;
    for (size_t i = 0; i < n_fields; i++) {
        size_t len = fields[i].is_hidden ? 0 : strlen(fields[i].name);
        width = len > width ? len : width;
    }
    for (size_t i = 0; i < n_fields; i++) {
        const struct hone_field *f = &fields[i];
        if (f->is_hidden)
            continue;
        HONE_CLEANUP(hone_buf_done) struct hone_buf facts = HONE_BUF_INIT;
        put_facts(&facts, f);
        hone_buf_printf(out, "  %-*s  %-8s  %s", (int)width, f->name, type_words[f->type],
                        f->help ? f->help : "");
        if (facts.len > 2)
            hone_buf_printf(out, " (%s)", facts.data + 2);
        hone_buf_str(out, "\n");
    }
}
