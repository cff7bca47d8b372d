/* SPDX-License-Identifier: Apache-2.0 */
/* Whatever decodes encodes to something that the table accepts and that decodes to the same again.
 */
#include <stdint.h>
#include <string.h>
#include "workspace/base/fields.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct point {
    int64_t x;
    double y;
    const char *label;
};
struct shape {
    const char *name, *kind;
    bool is_open;
    int64_t n, bounded;
    double weight;
    struct hone_strs tags;
    struct hone_i64s sizes;
    struct hone_f64s factors;
    struct hone_array points;
    struct point *centre;
    struct hone_json *extra;
};

static const char *const kinds[] = {"line", "area", NULL};
static const struct hone_field point_fields[] = {
    HONE_FIELD(struct point, x, .required = true),
    HONE_FIELD(struct point, y),
    HONE_FIELD(struct point, label, .max_len = 8),
};
static const struct hone_field shape_fields[] = {
    HONE_FIELD(struct shape, name, .required = true, .max_len = 16),
    HONE_FIELD(struct shape, kind, .choices = kinds, .fallback_str = "line"),
    HONE_FIELD(struct shape, is_open),
    HONE_FIELD(struct shape, n),
    HONE_FIELD(struct shape, bounded, .min = -5, .max = 5),
    HONE_FIELD(struct shape, weight, .skip_empty = true),
    HONE_FIELD(struct shape, tags, .max_len = 4),
    HONE_FIELD(struct shape, sizes, .min = 1),
    HONE_FIELD(struct shape, factors),
    HONE_FIELD(struct shape, points, HONE_OF(struct point, point_fields)),
    HONE_FIELD_OBJ(struct shape, centre, point_fields),
    HONE_FIELD(struct shape, extra),
};

static char *decode_and_print(const struct hone_json *value, struct hone_err *err)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct shape shape;
    if (hone_fields_decode(value, shape_fields, HONE_COUNTOF(shape_fields), &shape, sizeof(shape),
                           pool, err) < 0)
        return NULL;
    HONE_AUTOJSON struct hone_json *out =
        hone_fields_encode(&shape, shape_fields, HONE_COUNTOF(shape_fields));
    HONE_BUG_ON(hone_fields_validate(out, shape_fields, HONE_COUNTOF(shape_fields), err) < 0);
    return hone_json_print(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hone_err err = HONE_ERR_INIT;
    HONE_AUTOJSON struct hone_json *value = NULL, *again = NULL;
    if (hone_json_parse((const char *)data, size, &value, &err) < 0)
        return 0;
    HONE_AUTOFREE char *first = decode_and_print(value, &err);
    if (first == NULL) {
        HONE_BUG_ON(err.code >= 0 || err.message[0] == '\0');
        return 0;
    }
    HONE_BUG_ON(hone_json_parse(first, strlen(first), &again, &err) < 0);
    HONE_AUTOFREE char *second = decode_and_print(again, &err);
    HONE_BUG_ON(second == NULL || strcmp(first, second) != 0);
    return 0;
}
