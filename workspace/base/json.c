/* SPDX-License-Identifier: Apache-2.0 */
/* JSON trees on top of cJSON, the only file that knows it.
 *
 * cJSON parses and owns the nodes; json_scan.c has refused everything that cJSON would take or
 * change silently, and json_print.c writes the text, because cJSON prints 2^53 - 1
 * as 9.00719925474099e+15. A parsed integer beyond 2^53 keeps its digits in the number node's
 * valuestring, which cJSON copies and frees with the node and never reads for numbers. */
#include "workspace/base/json.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "workspace/base/json_internal.h"
#include "workspace/base/limits.h"
#include "workspace/base/utf8.h"

static cJSON *raw(const struct hone_json *value)
{
    return (cJSON *)(uintptr_t)value;
}

static struct hone_json *wrap(cJSON *node)
{
    return (struct hone_json *)(void *)node;
}

static struct hone_json *own(cJSON *node)
{
    if (node == NULL) {
        fprintf(stderr, "hone: out of memory\n");
        abort();
    }
    return wrap(node);
}

/* ---- parsing ---- */

struct walk {
    const char *text;
    const struct hone_json_big *bigs;
    size_t n_bigs, n_numbers;
    struct hone_err *err;
};

static int compare_keys(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int check_keys(const cJSON *object, struct hone_err *err)
{
    size_t n = 0;
    for (const cJSON *c = object->child; c != NULL; c = c->next)
        n++;
    if (n < 2)
        return 0;
    HONE_AUTOFREE const char **keys = calloc(n, sizeof(*keys));
    if (keys == NULL)
        return hone_fail(err, HONE_E_NOMEM, "no memory for a JSON object of %zu members", n);
    size_t i = 0;
    for (const cJSON *c = object->child; c != NULL; c = c->next)
        keys[i++] = c->string;
    qsort(keys, n, sizeof(*keys), compare_keys);
    for (i = 1; i < n; i++)
        if (strcmp(keys[i - 1], keys[i]) == 0)
            return hone_fail_at(err, HONE_E_ARG, keys[i], "JSON member '%.80s' is there twice",
                                keys[i]);
    return 0;
}

static int check_number(struct walk *w, cJSON *number)
{
    size_t n_before = w->n_numbers++;
    if (!isfinite(number->valuedouble))
        return hone_fail(w->err, HONE_E_ARG, "a JSON number is larger than a double can hold");
    if (w->n_bigs == 0 || w->bigs->n_before != n_before)
        return 0;
    if (fabs(number->valuedouble) > (double)HONE_JSON_EXACT - 1) {
        size_t len = w->bigs->len;
        number->valuestring = cJSON_malloc(len + 1);
        if (number->valuestring == NULL)
            return hone_fail(w->err, HONE_E_NOMEM, "no memory for a JSON number");
        memcpy(number->valuestring, w->text + w->bigs->offset, len);
        number->valuestring[len] = '\0';
    }
    w->bigs++;
    w->n_bigs--;
    return 0;
}

/* Visits the nodes in the order of the text. Depth is bounded by the scan. */
static int check_tree(struct walk *w, cJSON *node)
{
    int rc = 0;
    if (cJSON_IsNumber(node))
        rc = check_number(w, node);
    else if (cJSON_IsObject(node))
        rc = check_keys(node, w->err);
    for (cJSON *c = node->child; c != NULL && rc == 0; c = c->next)
        rc = check_tree(w, c);
    return rc;
}

int hone_json_parse(const char *text, size_t len, struct hone_json **ret_value,
                    struct hone_err *err)
{
    HONE_CLEANUP(hone_buf_done) struct hone_buf no_bigs = HONE_BUF_INIT;
    struct hone_json_scan scan = {.bigs = no_bigs};
    int rc = hone_json_scan(text, len, &scan, err);
    no_bigs = scan.bigs;
    if (rc < 0)
        return rc;
    HONE_AUTOJSON struct hone_json *value = wrap(cJSON_ParseWithLength(text, len));
    if (value == NULL)
        return hone_fail(err, HONE_E_NOMEM, "no memory for a JSON text of %zu bytes", len);
    struct walk w = {.text = text,
                     .bigs = (const struct hone_json_big *)(void *)scan.bigs.data,
                     .n_bigs = scan.bigs.len / sizeof(struct hone_json_big),
                     .err = err};
    rc = check_tree(&w, raw(value));
    if (rc < 0)
        return rc;
    *ret_value = HONE_STEAL(value);
    return 0;
}

void hone_json_free(struct hone_json *value)
{
    cJSON_Delete(raw(value));
}

void hone_json_free_ptr(struct hone_json **value)
{
    hone_json_free(*value);
    *value = NULL;
}

struct hone_json *hone_json_copy(const struct hone_json *value)
{
    return value ? own(cJSON_Duplicate(raw(value), true)) : NULL;
}

/* ---- reading ---- */

enum hone_json_type hone_json_type(const struct hone_json *value)
{
    const cJSON *node = raw(value);
    if (cJSON_IsBool(node))
        return HONE_JSON_BOOL;
    if (cJSON_IsNumber(node))
        return HONE_JSON_NUMBER;
    if (cJSON_IsString(node))
        return HONE_JSON_STRING;
    if (cJSON_IsArray(node))
        return HONE_JSON_ARRAY;
    if (cJSON_IsObject(node))
        return HONE_JSON_OBJECT;
    return HONE_JSON_NULL;
}

const char *hone_json_digits(const struct hone_json *value)
{
    return cJSON_IsNumber(raw(value)) ? raw(value)->valuestring : NULL;
}

struct hone_json *hone_json_get(const struct hone_json *object, const char *key)
{
    if (!cJSON_IsObject(raw(object)) || key == NULL)
        return NULL;
    return wrap(cJSON_GetObjectItemCaseSensitive(raw(object), key));
}

const char *hone_json_str(const struct hone_json *value)
{
    return cJSON_GetStringValue(raw(value));
}

const char *hone_json_get_str(const struct hone_json *object, const char *key, const char *fallback)
{
    const char *text = hone_json_str(hone_json_get(object, key));
    return text ? text : fallback;
}

bool hone_json_as_f64(const struct hone_json *value, double *ret)
{
    if (!cJSON_IsNumber(raw(value)))
        return false;
    *ret = raw(value)->valuedouble;
    return true;
}

/* Only the form that print would give: -?[1-9][0-9]* or 0, within int64. */
static bool parse_digits(const char *text, int64_t *ret)
{
    const char *digits = text + (*text == '-');
    size_t n = strspn(digits, "0123456789");
    if (n == 0 || digits[n] != '\0' || (digits[0] == '0' && (n > 1 || digits != text)))
        return false;
    errno = 0;
    long long v = strtoll(text, NULL, 10);
    if (errno != 0)
        return false;
    *ret = v;
    return true;
}

bool hone_json_as_i64(const struct hone_json *value, int64_t *ret)
{
    const cJSON *node = raw(value);
    if (node != NULL && node->valuestring != NULL)
        return parse_digits(node->valuestring, ret);
    if (!cJSON_IsNumber(node))
        return false;
    double d = node->valuedouble;
    if (!(fabs(d) <= (double)HONE_JSON_EXACT) || floor(d) != d)
        return false;
    *ret = (int64_t)d;
    return true;
}

bool hone_json_as_bool(const struct hone_json *value, bool *ret)
{
    if (!cJSON_IsBool(raw(value)))
        return false;
    *ret = cJSON_IsTrue(raw(value));
    return true;
}

double hone_json_get_f64(const struct hone_json *object, const char *key, double fallback)
{
    double v = fallback;
    hone_json_as_f64(hone_json_get(object, key), &v);
    return v;
}

int64_t hone_json_get_i64(const struct hone_json *object, const char *key, int64_t fallback)
{
    int64_t v = fallback;
    hone_json_as_i64(hone_json_get(object, key), &v);
    return v;
}

bool hone_json_get_bool(const struct hone_json *object, const char *key, bool fallback)
{
    bool v = fallback;
    hone_json_as_bool(hone_json_get(object, key), &v);
    return v;
}

size_t hone_json_size(const struct hone_json *array_or_object)
{
    size_t n = 0;
    for (struct hone_json *c = hone_json_first(array_or_object); c != NULL; c = hone_json_next(c))
        n++;
    return n;
}

struct hone_json *hone_json_first(const struct hone_json *array_or_object)
{
    return array_or_object ? wrap(raw(array_or_object)->child) : NULL;
}

struct hone_json *hone_json_next(const struct hone_json *child)
{
    return child ? wrap(raw(child)->next) : NULL;
}

const char *hone_json_key(const struct hone_json *child)
{
    return child ? raw(child)->string : NULL;
}

/* ---- building ---- */

struct hone_json *hone_json_new_object(void)
{
    return own(cJSON_CreateObject());
}

struct hone_json *hone_json_new_array(void)
{
    return own(cJSON_CreateArray());
}

char *hone_json_repaired(const char *text)
{
    size_t len = strlen(text), good = hone_utf8_valid_prefix(text, len);
    if (good == len)
        return NULL;
    struct hone_buf out = {.limit = SIZE_MAX / 4};
    hone_buf_add(&out, text, good);
    for (size_t i = good; i < len;) {
        size_t n = hone_utf8_char(text + i, len - i);
        if (n == 0)
            hone_buf_str(&out, "\xEF\xBF\xBD");
        else
            hone_buf_add(&out, text + i, n);
        i += n ? n : 1;
    }
    HONE_BUG_ON(out.has_failed);
    return hone_buf_steal(&out);
}

struct hone_json *hone_json_new_str(const char *text)
{
    if (text == NULL)
        return hone_json_new_null();
    HONE_AUTOFREE char *copy = hone_json_repaired(text);
    return own(cJSON_CreateString(copy ? copy : text));
}

struct hone_json *hone_json_new_i64(int64_t value)
{
    if (value <= HONE_JSON_EXACT && value >= -HONE_JSON_EXACT)
        return own(cJSON_CreateNumber((double)value));
    char text[32];
    snprintf(text, sizeof(text), "%lld", (long long)value);
    return own(cJSON_CreateString(text));
}

struct hone_json *hone_json_new_f64(double value)
{
    return own(isfinite(value) ? cJSON_CreateNumber(value) : cJSON_CreateNull());
}

struct hone_json *hone_json_new_bool(bool value)
{
    return own(cJSON_CreateBool(value));
}

struct hone_json *hone_json_new_null(void)
{
    return own(cJSON_CreateNull());
}

void hone_json_set(struct hone_json *object, const char *key, struct hone_json *value)
{
    if (value == NULL)
        return;
    HONE_BUG_ON(!cJSON_IsObject(raw(object)));
    HONE_AUTOFREE char *copy = hone_json_repaired(key);
    if (copy != NULL)
        key = copy;
    hone_json_free(hone_json_detach(object, key));
    HONE_BUG_ON(!cJSON_AddItemToObject(raw(object), key, raw(value)));
}

void hone_json_set_str(struct hone_json *object, const char *key, const char *text)
{
    hone_json_set(object, key, hone_json_new_str(text));
}

void hone_json_set_i64(struct hone_json *object, const char *key, int64_t value)
{
    hone_json_set(object, key, hone_json_new_i64(value));
}

void hone_json_set_f64(struct hone_json *object, const char *key, double value)
{
    hone_json_set(object, key, hone_json_new_f64(value));
}

void hone_json_set_bool(struct hone_json *object, const char *key, bool value)
{
    hone_json_set(object, key, hone_json_new_bool(value));
}

void hone_json_push(struct hone_json *array, struct hone_json *value)
{
    if (value == NULL)
        return;
    HONE_BUG_ON(!cJSON_IsArray(raw(array)));
    HONE_BUG_ON(!cJSON_AddItemToArray(raw(array), raw(value)));
}

struct hone_json *hone_json_detach(struct hone_json *object, const char *key)
{
    return wrap(cJSON_DetachItemFromObjectCaseSensitive(raw(object), key));
}
