/* SPDX-License-Identifier: Apache-2.0 */
/* Safetensors files: what is found in a good one, and why each kind of bad one is refused. */
#include <stdio.h>
#include <string.h>

#include "tests/unit/unit.h"
#include "workspace/base/file.h"
#include "workspace/task/stored.h"

/* A header and so many bytes of data behind it. */
static struct hone_buf file_of(const char *header, size_t n_data)
{
    struct hone_buf buf = HONE_BUF_INIT;
    char head[8] = {0};
    for (int i = 0; i < 8; i++)
        head[i] = (char)(strlen(header) >> (8 * i) & 0xff);
    hone_buf_add(&buf, head, sizeof head);
    hone_buf_str(&buf, header);
    for (size_t i = 0; i < n_data; i++)
        hone_buf_add(&buf, "\x3f", 1);
    return buf;
}

START_TEST(a_good_file)
{
    struct hone_buf buf =
        file_of("{\"__metadata__\":{\"a\":\"b\"},"
                "\"b\":{\"dtype\":\"I8\",\"shape\":[],\"data_offsets\":[24,25]},"
                "\"W\":{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[0,24]}}  ",
                25);
    struct hone_stored_view view;
    struct hone_err err = HONE_ERR_INIT;
    ck_assert_msg(hone_stored_find(buf.data, buf.len, "W", &view, &err) == 0, "%s", err.message);
    ck_assert_int_eq(view.n, 6);
    ck_assert_int_eq(view.row, 3);
    ck_assert_int_eq(view.dtype, HONE_DTYPE_F32);
    ck_assert_ptr_eq(view.data, buf.data + buf.len - 25);
    ck_assert_int_eq(hone_stored_find(buf.data, buf.len, "b", &view, &err), 0);
    ck_assert_int_eq(view.n, 1);
    ck_assert_int_eq(hone_stored_find(buf.data, buf.len, "c", &view, &err), HONE_E_NOT_FOUND);
    for (size_t len = 0; len < buf.len; len++) /* cut anywhere, it is none */
        ck_assert_int_lt(hone_stored_find(buf.data, len, "W", &view, &err), 0);
    hone_buf_done(&buf);
}
END_TEST

START_TEST(bad_files)
{
#define W(shape, offsets)                                                                          \
    "{\"W\":{\"dtype\":\"F32\",\"shape\":" shape ",\"data_offsets\":" offsets "}}"
    static const struct {
        const char *header;
        size_t n_data;
        const char *message;
    } table[] = {
        {"[]", 0, "no object"},
        {"{", 0, "header"},
        {"{\"W\":3}", 0, "dtype"},
        {"{\"W\":{\"dtype\":\"F8_E4M3\",\"shape\":[1],\"data_offsets\":[0,1]}}", 1, "F8_E4M3"},
        {W("3", "[0,4]"), 4, "list"},
        {W("[1,1,1,1,1,1,1]", "[0,4]"), 4, "at most 6"},
        {W("[0]", "[0,0]"), 0, "1 or more"},
        {W("[-1]", "[0,4]"), 4, "1 or more"},
        {W("[4611686018427387904,4]", "[0,0]"), 0, "1 or more"},
        {W("[2147483649]", "[0,4]"), 4, "at most 2147483648"},
        {W("[1]", "[0]"), 4, "inside the data"},
        {W("[1]", "[4,0]"), 4, "inside the data"},
        {W("[1]", "[-4,0]"), 4, "inside the data"},
        {W("[2]", "[0,8]"), 4, "inside the data"},
        {W("[2]", "[0,4]"), 4, "far apart"},
        {W("[1]", "[4,8]"), 8, "holes"},
        {W("[1]", "[0,4]"), 8, "fill the file"},
        {"{\"a\":{\"dtype\":\"I8\",\"shape\":[4],\"data_offsets\":[0,4]},"
         "\"W\":{\"dtype\":\"I8\",\"shape\":[4],\"data_offsets\":[2,6]}}",
         6, "overlap"},
    };
    for (size_t i = 0; i < HONE_COUNTOF(table); i++) {
        struct hone_buf buf = file_of(table[i].header, table[i].n_data);
        struct hone_stored_view view;
        struct hone_err err = HONE_ERR_INIT;
        ck_assert_int_lt(hone_stored_find(buf.data, buf.len, "W", &view, &err), 0);
        ck_assert_msg(strstr(err.message, table[i].message) || strstr(err.path, table[i].message),
                      "row %zu: %s: %s", i, err.path, err.message);
        hone_buf_done(&buf);
    }
}
END_TEST

START_TEST(limits)
{
    for (int more = 0; more < 2; more++) {
        struct hone_buf text = HONE_BUF_INIT;
        struct hone_stored_view view;
        int n = HONE_LIMIT_STORED_TENSORS + more;
        for (int i = 0; i < n; i++)
            hone_buf_printf(&text,
                            "%s\"%s%d\":{\"dtype\":\"I8\",\"shape\":[1],\"data_offsets\":[%d,%d]}",
                            i ? "," : "{", i ? "t" : "W", i, i, i + 1);
        hone_buf_str(&text, "}");
        struct hone_buf buf = file_of(text.data, (size_t)n);
        ck_assert_int_eq(hone_stored_find(buf.data, buf.len, "W0", &view, NULL),
                         more ? HONE_E_LIMIT : 0);
        hone_buf_done(&buf);
        hone_buf_done(&text);
        hone_buf_str(&text, "{\"W\":{\"dtype\":\"I8\",\"shape\":[1],\"data_offsets\":[0,1]}");
        while (text.len < (size_t)HONE_LIMIT_STORED_HEADER_BYTES - 1 + (size_t)more)
            hone_buf_str(&text, " ");
        hone_buf_str(&text, "}");
        buf = file_of(text.data, 1);
        ck_assert_int_eq(hone_stored_find(buf.data, buf.len, "W", &view, NULL),
                         more ? HONE_E_LIMIT : 0);
        hone_buf_done(&buf);
        hone_buf_done(&text);
    }
}
END_TEST

/* What an index and offsets must be; the refusal names the first element that is not. */
START_TEST(places)
{
    static const struct {
        int (*check)(const struct hone_stored_view *view, int64_t bound, struct hone_err *err);
        int64_t v[4], n, bound;
        const char *message; /* NULL: good */
    } table[] = {
        {hone_stored_check_index, {0, 4, 2}, 3, 5, NULL},
        {hone_stored_check_index, {0, 5, 2}, 3, 5, "element 1 is 5, it must be below 5"},
        {hone_stored_check_index, {0, 4, -1}, 3, 5, "element 2 is -1, an index is 0 or more"},
        {hone_stored_check_index, {0, 1 << 30, 2}, 3, HONE_STORED_ANY, NULL},
        {hone_stored_check_offsets, {0, 3, 3, 7}, 4, 7, NULL},
        {hone_stored_check_offsets, {0, 3, 3, 7}, 4, 8, "element 3, the last, is 7, it must be 8"},
        {hone_stored_check_offsets, {0, 3, 3, 7}, 4, 6, "element 3, the last, is 7, it must be 6"},
        {hone_stored_check_offsets, {0, 3, 2, 7}, 4, 7, "element 2 is 2, less than 3 before it"},
        {hone_stored_check_offsets, {1, 3, 3, 7}, 4, 7, "element 0 is 1, the first offset is 0"},
        {hone_stored_check_offsets, {0}, 1, 0, "two elements or more"},
        {hone_stored_check_offsets, {0, 7}, 2, HONE_STORED_ANY, NULL},
        {hone_stored_check_offsets, {0, 0}, 2, HONE_STORED_ANY, "it must be 1 or more"},
    };
    for (size_t i = 0; i < 2 * HONE_COUNTOF(table); i++) {
        bool is_narrow = i % 2 == 1;
        int32_t narrow[4];
        for (int k = 0; k < 4; k++)
            narrow[k] = (int32_t)table[i / 2].v[k];
        struct hone_stored_view view = {.dtype = is_narrow ? HONE_DTYPE_I32 : HONE_DTYPE_I64,
                                        .n = table[i / 2].n,
                                        .row = table[i / 2].n,
                                        .data = is_narrow ? (const void *)narrow : table[i / 2].v};
        struct hone_err err = HONE_ERR_INIT;
        int code = table[i / 2].check(&view, table[i / 2].bound, &err);
        if (table[i / 2].message == NULL)
            ck_assert_msg(code == 0, "row %zu: %s", i / 2, err.message);
        else
            ck_assert_msg(code == HONE_E_ARG && strstr(err.message, table[i / 2].message),
                          "row %zu: %s", i / 2, err.message);
    }
}
END_TEST

/* A pack names a file of its folder; what is there must fit the task. */
START_TEST(packs)
{
    static const struct {
        const char *from, *to, *message;
    } table[] = {
        {"", "", NULL},
        {"layer.safetensors", "other.safetensors", "other.safetensors"},
        {"layer.safetensors", "../layer", "beside task.json"},
        {"\"role\": \"weight\", \"stored\"", "\"role\": \"positive\", \"stored\"",
         "activation, weight, bits, index and offsets"},
        {"\"role\": \"weight\", \"stored\"", "\"role\": \"index\", \"bound\": \"N\", \"stored\"",
         "needs int32"},
        {"\"float32\", \"role\": \"weight\"", "\"float16\", \"role\": \"weight\"", "float32 there"},
    };
    for (size_t i = 0; i < HONE_COUNTOF(table); i++) {
        char root[] = "/tmp/hone-stored-test-XXXXXX";
        struct hone_task *task = NULL;
        struct hone_err err = HONE_ERR_INIT;
        size_t len = 0;
        char *text = NULL;
        ck_assert_ptr_nonnull(mkdtemp(root));
        char *dir = hone_path_join(root, "pack", NULL),
             *path = hone_path_join(dir, "task.json", NULL);
        ck_assert_int_eq(hone_copy_tree("tests/judge/packs/stored_weights", dir, 100, NULL), 0);
        ck_assert_int_eq(hone_file_read(path, 1 << 20, &text, &len, NULL), 0);
        char *at = strstr(text, table[i].from);
        ck_assert_ptr_nonnull(at);
        char *all = hone_sprintf("%.*s%s%s", (int)(at - text), text, table[i].to,
                                 at + strlen(table[i].from));
        ck_assert_int_eq(hone_file_write(path, all, strlen(all), 0600, false, NULL), 0);
        int code = hone_task_load(dir, &task, &err);
        if (table[i].message == NULL) {
            ck_assert_msg(code == 0, "%s: %s", err.path, err.message);
            ck_assert_int_eq(task->inputs[1].n_stored, 40 * 24);
            ck_assert_int_eq(task->inputs[1].stored_row, 24);
        } else {
            ck_assert_msg(code < 0 && strstr(err.message, table[i].message), "row %zu: %s: %s", i,
                          err.path, err.message);
        }
        hone_task_free(task);
        free(all);
        free(text);
        free(path);
        free(dir);
        ck_assert_int_eq(hone_remove_tree(root, NULL), 0);
    }
}
END_TEST

UNIT_MAIN("stored", a_good_file, bad_files, limits, places, packs)
