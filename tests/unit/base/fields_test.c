/* SPDX-License-Identifier: Apache-2.0 */
#include "workspace/base/fields.h"

#include <math.h>
#include <string.h>
#include "tests/unit/unit.h"
#include "workspace/base/limits.h"

struct point {
    int64_t x;
    double y;
};
struct shape {
    const char *name, *kind, *token;
    bool is_open, is_new;
    int64_t n, count, bounded, low;
    double weight, share;
    struct hone_strs tags;
    struct hone_i64s sizes;
    struct hone_f64s factors;
    struct hone_array points;
    struct point *centre;
    struct hone_json *extra;
};

enum colour { RED, GREEN, BLUE };
enum shine { UNTOLD, MATT, GLOSSY };
static const char *const colours[] = {[RED] = "red", [GREEN] = "green", [BLUE] = "blue", NULL};
struct paint {
    enum colour front, back, rim;
    enum shine shine;
};
static const char *const shines[] = {[UNTOLD] = "", [MATT] = "matt", [GLOSSY] = "glossy", NULL};
static const struct hone_field paint_fields[] = {
    HONE_FIELD(struct paint, front, .required = true, .choices = colours),
    HONE_FIELD(struct paint, back, .fallback_i64 = GREEN, .choices = colours),
    HONE_FIELD(struct paint, rim, .skip_empty = true, .choices = colours),
    HONE_FIELD(struct paint, shine, .choices = shines),
};

static const char *const kinds[] = {"line", "area", NULL};
static const struct hone_field point_fields[] = {
    HONE_FIELD(struct point, x, .required = true, .help = "Across."),
    HONE_FIELD(struct point, y),
};
static const struct hone_field shape_fields[] = {
    HONE_FIELD(struct shape, name, .required = true, .skip_empty = true, .max_len = 8,
               .help = "What it is called."),
    HONE_FIELD(struct shape, kind, .choices = kinds, .fallback_str = "line", .help = "Sort."),
    HONE_FIELD(struct shape, token, .is_secret = true, .fallback_str = "hush"),
    HONE_FIELD(struct shape, is_open, .skip_empty = true),
    HONE_FIELD(struct shape, is_new, .fallback_bool = true),
    HONE_FIELD(struct shape, n),
    HONE_FIELD(struct shape, count, .min = 1, .max = 10, .fallback_i64 = 5, .unit = "ms",
               .help = "How many."),
    HONE_FIELD(struct shape, bounded, .min = -5, .max = 0),
    HONE_FIELD(struct shape, low, .min = 3, .fallback_i64 = 3, .unit = "bytes"),
    HONE_FIELD(struct shape, weight, .skip_empty = true, .min = 0, .max = 1),
    HONE_FIELD(struct shape, share, .fallback_f64 = 0.5),
    HONE_FIELD(struct shape, tags, .max_len = 3, .choices = kinds),
    HONE_FIELD(struct shape, sizes, .min = 1, .max = 9),
    HONE_FIELD(struct shape, factors, .skip_empty = true),
    HONE_FIELD(struct shape, points, HONE_OF(struct point, point_fields), .max_len = 2,
               .skip_empty = true),
    HONE_FIELD_OBJ(struct shape, centre, point_fields),
    HONE_FIELD(struct shape, extra, .json_schema = "{\"type\":\"object\"}"),
};

static int decode(const char *text, struct shape *ret, struct hone_pool *pool, struct hone_err *err)
{
    HONE_AUTOJSON struct hone_json *value = NULL;
    ck_assert_int_eq(hone_json_parse(text, strlen(text), &value, NULL), 0);
    return hone_fields_decode(value, shape_fields, HONE_COUNTOF(shape_fields), ret, sizeof(*ret),
                              pool, err);
}

static int validate(const char *text, struct hone_err *err)
{
    HONE_AUTOJSON struct hone_json *value = NULL;
    ck_assert_int_eq(hone_json_parse(text, strlen(text), &value, NULL), 0);
    return hone_fields_validate(value, shape_fields, HONE_COUNTOF(shape_fields), err);
}

START_TEST(enums)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    static const struct {
        const char *text, *again; /* NULL: refused */
    } cases[] = {
        {"{\"front\":\"blue\",\"back\":\"red\",\"rim\":\"green\"}",
         "{\"front\":\"blue\",\"back\":\"red\",\"rim\":\"green\"}"},
        {"{\"front\":\"red\"}", "{\"front\":\"red\",\"back\":\"green\"}"},
        {"{\"front\":\"red\",\"shine\":\"matt\"}",
         "{\"front\":\"red\",\"back\":\"green\",\"shine\":\"matt\"}"},
        {"{\"front\":\"red\",\"shine\":\"\"}", NULL},
        {"{\"front\":\"Red\"}", NULL},
        {"{\"front\":\"\"}", NULL},
        {"{\"front\":0}", NULL},
        {"{}", NULL},
    };
    const size_t n = HONE_COUNTOF(paint_fields);

    for (size_t i = 0; i < HONE_COUNTOF(cases); i++) {
        HONE_AUTOJSON struct hone_json *json = NULL;
        struct hone_err err = HONE_ERR_INIT;
        struct paint p;
        ck_assert_int_eq(hone_json_parse(cases[i].text, strlen(cases[i].text), &json, NULL), 0);
        int rc = hone_fields_decode(json, paint_fields, n, &p, sizeof(p), pool, &err);
        ck_assert_int_eq(rc, cases[i].again ? 0 : HONE_E_ARG);
        ck_assert_int_eq(hone_fields_validate(json, paint_fields, n, NULL), rc);
        if (!cases[i].again) {
            ck_assert_str_eq(err.path, strstr(cases[i].text, "shine") ? "shine" : "front");
            continue;
        }
        HONE_AUTOJSON struct hone_json *out = hone_fields_encode(&p, paint_fields, n);
        HONE_AUTOFREE char *text = hone_json_print(out);
        ck_assert_str_eq(text, cases[i].again);
    }
    struct hone_err err = HONE_ERR_INIT;
    HONE_AUTOJSON struct hone_json *json = NULL;
    struct paint p;
    ck_assert_int_eq(hone_json_parse("{\"front\":\"Red\"}", 15, &json, NULL), 0);
    hone_fields_decode(json, paint_fields, n, &p, sizeof(p), pool, &err);
    ck_assert_ptr_nonnull(strstr(err.message, "'Red' is not one of: red, green, blue"));
    HONE_AUTOJSON struct hone_json *schema = hone_fields_schema(paint_fields, n);
    HONE_AUTOFREE char *text = hone_json_print(schema);
    ck_assert_ptr_nonnull(
        strstr(text, "\"front\":{\"type\":\"string\",\"enum\":[\"red\",\"green\",\"blue\"]}"));
    ck_assert_ptr_nonnull(strstr(text, "\"default\":\"green\""));
    ck_assert_ptr_nonnull(/* and no default */
                          strstr(text,
                                 "\"shine\":{\"type\":\"string\",\"enum\":[\"matt\",\"glossy\"]}"));
}
END_TEST

START_TEST(decodes_everything)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_err err = HONE_ERR_INIT;
    struct shape s;
    int rc =
        decode("{\"name\":\"box\",\"kind\":\"area\",\"token\":\"t\",\"is_open\":true,"
               "\"is_new\":false,\"n\":\"9223372036854775807\",\"count\":10,\"bounded\":-5,"
               "\"low\":1e6,\"weight\":0.25,\"share\":1,\"tags\":[\"line\",\"area\"],"
               "\"sizes\":[1,9],\"factors\":[0.5,-1],\"points\":[{\"x\":1,\"y\":2.5},{\"x\":-3}],"
               "\"centre\":{\"x\":7},\"extra\":{\"any\":[null]}}",
               &s, pool, &err);
    ck_assert_msg(rc == 0, "%s", err.message);
    ck_assert_str_eq(s.name, "box");
    ck_assert_str_eq(s.kind, "area");
    ck_assert_str_eq(s.token, "t");
    ck_assert(s.is_open && !s.is_new);
    ck_assert_int_eq(s.n, INT64_MAX);
    ck_assert_int_eq(s.count, 10);
    ck_assert_int_eq(s.bounded, -5);
    ck_assert_int_eq(s.low, 1000000);
    ck_assert_double_eq(s.weight, 0.25);
    ck_assert_double_eq(s.share, 1);
    ck_assert_uint_eq(s.tags.n, 2);
    ck_assert_str_eq(s.tags.v[1], "area");
    ck_assert_uint_eq(s.sizes.n, 2);
    ck_assert_int_eq(s.sizes.v[1], 9);
    ck_assert_double_eq(s.factors.v[1], -1);
    ck_assert_uint_eq(s.points.n, 2);
    const struct point *points = s.points.v;
    ck_assert_int_eq(points[1].x, -3);
    ck_assert_double_eq(points[0].y, 2.5);
    ck_assert_int_eq(s.centre->x, 7);
    HONE_AUTOFREE char *extra = hone_json_print(s.extra);
    ck_assert_str_eq(extra, "{\"any\":[null]}");
}
END_TEST

START_TEST(absent_members_take_fallbacks)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    static const char *const texts[] = {
        "{\"name\":\"\"}",
        "{\"name\":\"\",\"kind\":null,\"is_new\":null,\"n\":null,\"count\":null,\"share\":null,"
        "\"tags\":null,\"points\":null,\"centre\":null}",
    };
    for (size_t i = 0; i < HONE_COUNTOF(texts); i++) {
        struct hone_err err = HONE_ERR_INIT;
        struct shape s;
        memset(&s, 0xAA, sizeof(s));
        ck_assert_msg(decode(texts[i], &s, pool, &err) == 0, "%s", err.message);
        ck_assert_str_eq(s.name, "");
        ck_assert_str_eq(s.kind, "line");
        ck_assert(!s.is_open && s.is_new);
        ck_assert_int_eq(s.n, 0);
        ck_assert_int_eq(s.count, 5);
        ck_assert_double_eq(s.weight, 0);
        ck_assert_double_eq(s.share, 0.5);
        ck_assert(s.tags.n == 0 && s.tags.v == NULL && s.points.n == 0);
        ck_assert_ptr_null(s.centre);
        ck_assert_ptr_null(s.extra);
    }
}
END_TEST

/* Members beside "name":"a"; {..} texts stand for themselves. */
static const struct {
    const char *members, *path, *message;
    enum hone_code code;
} bad[] = {
    {"[]", "", "expected an object, got an array", HONE_E_ARG},
    {"7", "", "expected an object, got a number", HONE_E_ARG},
    {"{}", "name", "name: is required: What it is called.", HONE_E_ARG},
    {"{\"name\":null}", "name", "name: expected a string, got null", HONE_E_ARG},
    {"\"nmae\":1", "nmae", "nmae: is not known here; did you mean name? Known are: name, kind, ",
     HONE_E_ARG},
    {"\"xyzzy\":1", "xyzzy", "xyzzy: is not known here; known are: name, ", HONE_E_ARG},
    {"\"Kind\":\"line\"", "Kind", "is not known here", HONE_E_ARG},
    {"\"kind\":\"volume\"", "kind", "kind: 'volume' is not one of: line, area", HONE_E_ARG},
    {"\"kind\":1", "kind", "kind: expected a string, got a number", HONE_E_ARG},
    {"\"is_open\":1", "is_open", "is_open: expected true or false, got a number", HONE_E_ARG},
    {"\"is_open\":\"true\"", "is_open", "got a string", HONE_E_ARG},
    {"\"n\":1.5", "n", "n: expected an integer (64 bits), got another number", HONE_E_ARG},
    {"\"n\":1e30", "n", "expected an integer (64 bits)", HONE_E_ARG},
    {"\"n\":9223372036854775808", "n", "expected an integer (64 bits)", HONE_E_ARG},
    {"\"n\":\"12x\"", "n", "expected an integer, got a string", HONE_E_ARG},
    {"\"n\":true", "n", "expected an integer, got a boolean", HONE_E_ARG},
    {"\"count\":0", "count", "count: is 0, accepted are 1 to 10 ms", HONE_E_ARG},
    {"\"count\":11", "count", "count: is 11, accepted are 1 to 10 ms", HONE_E_ARG},
    {"\"count\":\"11\"", "count", "is 11, accepted", HONE_E_ARG},
    {"\"bounded\":-6", "bounded", "is -6, accepted are -5 to 0", HONE_E_ARG},
    {"\"bounded\":1", "bounded", "is 1, accepted are -5 to 0", HONE_E_ARG},
    {"\"low\":2", "low", "low: is 2, at least 3 bytes is accepted", HONE_E_ARG},
    {"\"weight\":1.001", "weight", "weight: is 1.001, accepted are 0 to 1", HONE_E_ARG},
    {"\"weight\":-0.1", "weight", "is -0.1, accepted are 0 to 1", HONE_E_ARG},
    {"\"weight\":\"0.5\"", "weight", "expected a number, got a string", HONE_E_ARG},
    {"\"tags\":{}", "tags", "tags: expected an array, got an object", HONE_E_ARG},
    {"\"tags\":[\"line\",3]", "tags[1]", "tags[1]: expected a string, got a number", HONE_E_ARG},
    {"\"tags\":[\"line\",\"cube\"]", "tags[1]", "'cube' is not one of: line, area", HONE_E_ARG},
    {"\"tags\":[\"line\",\"line\",\"line\",\"line\"]", "tags",
     "tags: has 4 items, at most 3 are accepted", HONE_E_LIMIT},
    {"\"sizes\":[1,10]", "sizes[1]", "sizes[1]: is 10, accepted are 1 to 9", HONE_E_ARG},
    {"\"sizes\":[null]", "sizes[0]", "expected an integer, got null", HONE_E_ARG},
    {"\"factors\":[1,[]]", "factors[1]", "expected a number, got an array", HONE_E_ARG},
    {"\"points\":[{\"x\":1},{\"y\":1}]", "points[1].x", "points[1].x: is required: Across.",
     HONE_E_ARG},
    {"\"points\":[{\"x\":1,\"z\":1}]", "points[0].z",
     "points[0].z: is not known here; known are: x, y", HONE_E_ARG},
    {"\"points\":[7]", "points[0]", "points[0]: expected an object, got a number", HONE_E_ARG},
    {"\"points\":[{\"x\":1},{\"x\":1},{\"x\":1}]", "points", "has 3 items", HONE_E_LIMIT},
    {"\"centre\":{\"x\":1,\"y\":\"a\"}", "centre.y", "centre.y: expected a number, got a string",
     HONE_E_ARG},
    {"\"centre\":[]", "centre", "expected an object, got an array", HONE_E_ARG},
    {"{\"name\":\"123456789\"}", "name", "name: is 9 bytes, at most 8 are accepted", HONE_E_LIMIT},
};

START_TEST(refuses)
{
    for (size_t i = 0; i < HONE_COUNTOF(bad); i++) {
        HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
        bool is_whole = strchr("[{7", bad[i].members[0]) != NULL;
        HONE_AUTOFREE char *text = is_whole ? hone_strdup(bad[i].members)
                                            : hone_sprintf("{\"name\":\"a\",%s}", bad[i].members);
        struct hone_err err = HONE_ERR_INIT, same = HONE_ERR_INIT;
        struct shape s;
        memset(&s, 0xAA, sizeof(s));
        ck_assert_msg(decode(text, &s, pool, &err) == (int)bad[i].code, "%s", text);
        ck_assert_msg(strcmp(err.path, bad[i].path) == 0, "%s: path '%s'", text, err.path);
        ck_assert_msg(strstr(err.message, bad[i].message) != NULL, "%s: %s", text, err.message);
        ck_assert_msg(((unsigned char *)&s)[0] == 0xAA, "output changed for %s", text);
        ck_assert_int_eq(validate(text, &same), (int)bad[i].code);
        ck_assert_str_eq(same.message, err.message);
    }
}
END_TEST

START_TEST(at_the_limits)
{
    static const char *const texts[] = {
        "{\"name\":\"12345678\"}",
        "{\"name\":\"\",\"count\":1,\"bounded\":0,\"low\":3,\"weight\":1}",
        "{\"name\":\"\",\"count\":10,\"bounded\":-5,\"weight\":0}",
        "{\"name\":\"\",\"tags\":[\"line\",\"line\",\"line\"],\"sizes\":[1,9]}",
        "{\"name\":\"\",\"points\":[{\"x\":1},{\"x\":2}]}",
    };
    for (size_t i = 0; i < HONE_COUNTOF(texts); i++) {
        struct hone_err err = HONE_ERR_INIT;
        ck_assert_msg(validate(texts[i], &err) == 0, "%s: %s", texts[i], err.message);
    }
}
END_TEST

struct loose {
    const char *text;
    struct hone_i64s list;
};
static const struct hone_field loose_fields[] = {
    HONE_FIELD(struct loose, text),
    HONE_FIELD(struct loose, list),
};

START_TEST(default_limits_at_and_above)
{
    for (size_t above = 0; above < 2; above++) {
        HONE_AUTOFREE char *text = hone_calloc(1, HONE_LIMIT_FIELD_BYTES + 2);
        memset(text, 'x', HONE_LIMIT_FIELD_BYTES + above);
        HONE_AUTOJSON struct hone_json *v = hone_json_new_object();
        hone_json_set_str(v, "text", text);
        struct hone_err err = HONE_ERR_INIT;
        ck_assert_int_eq(hone_fields_validate(v, loose_fields, 2, &err), above ? HONE_E_LIMIT : 0);
        HONE_AUTOJSON struct hone_json *w = hone_json_new_object();
        struct hone_json *list = hone_json_new_array();
        for (size_t i = 0; i < HONE_LIMIT_FIELD_ITEMS + above; i++)
            hone_json_push(list, hone_json_new_i64(1));
        hone_json_set(w, "list", list);
        ck_assert_int_eq(hone_fields_validate(w, loose_fields, 2, &err), above ? HONE_E_LIMIT : 0);
    }
}
END_TEST

START_TEST(null_is_for_callers_only)
{
    ck_assert_int_eq(validate("{\"name\":\"a\",\"kind\":null}", NULL), HONE_E_ARG);
    ck_assert_int_eq(validate("{\"name\":\"a\",\"extra\":null}", NULL), 0); /* any JSON */
}
END_TEST

START_TEST(encodes)
{
    struct point centre = {.x = 1, .y = (double)NAN};
    const char *tags[] = {"line"};
    struct shape s = {.name = "a",
                      .token = "secret",
                      .n = INT64_MIN,
                      .count = 2,
                      .low = 3,
                      .share = (double)INFINITY,
                      .tags = {.v = tags, .n = 1},
                      .centre = &centre};
    HONE_AUTOJSON struct hone_json *v =
        hone_fields_encode(&s, shape_fields, HONE_COUNTOF(shape_fields));
    HONE_AUTOFREE char *text = hone_json_print(v);
    ck_assert_str_eq(
        text, "{\"name\":\"a\",\"is_new\":false,\"n\":\"-9223372036854775808\",\"count\":2,"
              "\"bounded\":0,\"low\":3,\"tags\":[\"line\"],\"sizes\":[],\"centre\":{\"x\":1}}");
    ck_assert_int_eq(validate(text, NULL), 0);
    /* What is required is there even when it is empty: what was read must be readable again. */
    s.name = "";
    HONE_AUTOJSON struct hone_json *unnamed =
        hone_fields_encode(&s, shape_fields, HONE_COUNTOF(shape_fields));
    ck_assert_int_eq(hone_fields_validate(unnamed, shape_fields, HONE_COUNTOF(shape_fields), NULL),
                     0);
    /* A result whose required text was never set must not pass for a good one. */
    s.name = NULL;
    HONE_AUTOJSON struct hone_json *w =
        hone_fields_encode(&s, shape_fields, HONE_COUNTOF(shape_fields));
    ck_assert_int_eq(hone_fields_validate(w, shape_fields, HONE_COUNTOF(shape_fields), NULL),
                     HONE_E_ARG);
}
END_TEST

START_TEST(round_trip)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    const char *text =
        "{\"name\":\"box\",\"kind\":\"area\",\"is_open\":true,\"is_new\":false,\"n\":-7,"
        "\"count\":10,\"bounded\":-5,\"low\":4,\"weight\":0.25,\"share\":1,"
        "\"tags\":[\"line\"],\"sizes\":[1,9],\"factors\":[0.5],"
        "\"points\":[{\"x\":1,\"y\":2.5}],\"centre\":{\"x\":7,\"y\":0},\"extra\":{\"a\":1}}";
    struct shape s;
    ck_assert_int_eq(decode(text, &s, pool, NULL), 0);
    s.token = NULL;
    HONE_AUTOJSON struct hone_json *v =
        hone_fields_encode(&s, shape_fields, HONE_COUNTOF(shape_fields));
    HONE_AUTOFREE char *again = hone_json_print(v);
    ck_assert_str_eq(again, text);
}
END_TEST

static const struct hone_json *property(const struct hone_json *schema, const char *name)
{
    return hone_json_get(hone_json_get(schema, "properties"), name);
}

static void check_property(const struct hone_json *schema, const char *name, const char *want)
{
    HONE_AUTOFREE char *text = hone_json_print(property(schema, name));
    ck_assert_str_eq(text, want);
}

START_TEST(schema)
{
    HONE_AUTOJSON struct hone_json *s =
        hone_fields_schema(shape_fields, HONE_COUNTOF(shape_fields));
    ck_assert_str_eq(hone_json_get_str(s, "type", ""), "object");
    ck_assert(!hone_json_get_bool(s, "additionalProperties", true));
    HONE_AUTOFREE char *required = hone_json_print(hone_json_get(s, "required"));
    ck_assert_str_eq(required, "[\"name\"]");
    static const struct {
        const char *name, *want;
    } rows[] = {
        {"name", "{\"type\":\"string\",\"description\":\"What it is called.\"}"},
        {"kind", "{\"type\":\"string\",\"enum\":[\"line\",\"area\"],\"default\":\"line\","
                 "\"description\":\"Sort.\"}"},
        {"is_open", "{\"type\":\"boolean\"}"},
        {"is_new", "{\"type\":\"boolean\",\"default\":true}"},
        {"n", "{\"type\":\"integer\"}"},
        {"count", "{\"type\":\"integer\",\"minimum\":1,\"maximum\":10,\"default\":5,"
                  "\"description\":\"How many. [ms]\"}"},
        {"bounded", "{\"type\":\"integer\",\"minimum\":-5,\"maximum\":0}"},
        {"low", "{\"type\":\"integer\",\"minimum\":3,\"default\":3}"},
        {"weight", "{\"type\":\"number\",\"maximum\":1}"},
        {"share", "{\"type\":\"number\",\"default\":0.5}"},
        {"tags", "{\"type\":\"array\",\"items\":{\"type\":\"string\",\"enum\":[\"line\",\"area\"]}"
                 "}"},
        {"sizes",
         "{\"type\":\"array\",\"items\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":9}}"},
        {"factors", "{\"type\":\"array\",\"items\":{\"type\":\"number\"}}"},
        {"extra", "{\"type\":\"object\"}"},
        {"centre",
         "{\"type\":\"object\",\"properties\":{\"x\":{\"type\":\"integer\",\"description\":"
         "\"Across.\"},"
         "\"y\":{\"type\":\"number\"}},\"required\":[\"x\"],\"additionalProperties\":false}"},
    };
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++)
        check_property(s, rows[i].name, rows[i].want);
    ck_assert(hone_json_get_bool(property(s, "token"), "writeOnly", false));
    const struct hone_json *points = property(s, "points");
    ck_assert_str_eq(hone_json_get_str(hone_json_get(points, "items"), "type", ""), "object");
}
END_TEST

START_TEST(a_header_is_in_the_schema)
{
    struct place {
        const char *region;
    };
    static const struct hone_field fields[] = {
        HONE_FIELD(struct place, region, .header = "Region"),
    };
    HONE_AUTOJSON struct hone_json *s = hone_fields_schema(fields, HONE_COUNTOF(fields));
    check_property(s, "region", "{\"type\":\"string\",\"x-mcp-header\":\"Region\"}");
}
END_TEST

/* Official clients refuse a schema whose bounds are strings. */
START_TEST(schema_bounds_are_numbers)
{
    struct wide {
        int64_t any, exact;
    };
    static const struct hone_field fields[] = {
        HONE_FIELD(struct wide, any, .min = 0, .max = INT64_MAX),
        HONE_FIELD(struct wide, exact, .min = 1, .max = 1ll << 53),
    };
    HONE_AUTOJSON struct hone_json *s = hone_fields_schema(fields, HONE_COUNTOF(fields));
    check_property(s, "any", "{\"type\":\"integer\"}");
    check_property(s, "exact", "{\"type\":\"integer\",\"minimum\":1}");
}
END_TEST

START_TEST(help)
{
    HONE_CLEANUP(hone_buf_done) struct hone_buf out = HONE_BUF_INIT;
    hone_fields_help(shape_fields, HONE_COUNTOF(shape_fields), &out);
    ck_assert_ptr_nonnull(strstr(out.data, "  name     string    What it is called. (required)\n"));
    ck_assert_ptr_nonnull(
        strstr(out.data, "  kind     string    Sort. (default line, line|area)\n"));
    ck_assert_ptr_nonnull(
        strstr(out.data, "  count    integer   How many. (ms, default 5, 1 to 10)\n"));
    ck_assert_ptr_nonnull(strstr(out.data, "(bytes, default 3, at least 3)\n"));
    ck_assert_ptr_null(strstr(out.data, "hush"));
}
END_TEST

/* A path longer than the error's field is cut, not overrun. */
START_TEST(long_names)
{
    char name[300];
    memset(name, 'n', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    HONE_AUTOJSON struct hone_json *v = hone_json_new_object();
    hone_json_set_i64(v, name, 1);
    struct hone_err err = HONE_ERR_INIT;
    ck_assert_int_eq(hone_fields_validate(v, loose_fields, 2, &err), HONE_E_ARG);
    ck_assert_uint_lt(strlen(err.path), HONE_ERR_PATH_BYTES);
    ck_assert_ptr_nonnull(strstr(err.message, "known are: text, list"));
}
END_TEST

/* Records of other versions: what cannot be read is as if it were not there. */
START_TEST(a_record_is_read_as_far_as_it_goes)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    static const char text[] = "{\"later\":[1],\"n\":\"x\",\"count\":99,\"is_open\":true,"
                               "\"centre\":{\"x\":4,\"z\":1}}";
    HONE_AUTOJSON struct hone_json *value = NULL;
    struct shape s;
    ck_assert_int_eq(hone_json_parse(text, strlen(text), &value, NULL), 0);
    ck_assert(
        hone_fields_read(value, shape_fields, HONE_COUNTOF(shape_fields), &s, sizeof(s), pool));
    ck_assert_ptr_null(s.name); /* required of others */
    ck_assert_int_eq((int)s.n, 0);
    ck_assert_int_eq((int)s.count, 5);
    ck_assert(s.is_open && s.is_new && s.share == 0.5);
    ck_assert_int_eq((int)s.centre->x, 4);
    ck_assert(
        !hone_fields_read(NULL, shape_fields, HONE_COUNTOF(shape_fields), &s, sizeof(s), pool));
}
END_TEST

UNIT_MAIN("fields", enums, a_record_is_read_as_far_as_it_goes, decodes_everything,
          absent_members_take_fallbacks, refuses, at_the_limits, default_limits_at_and_above,
          null_is_for_callers_only, encodes, round_trip, schema, schema_bounds_are_numbers,
          a_header_is_in_the_schema, help, long_names)
