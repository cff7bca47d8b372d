/* SPDX-License-Identifier: Apache-2.0 */
/* FlashInfer-Bench and SOL-ExecBench: where a definition's workloads and stored inputs lie.
 *
 * A set keeps ROOT/definitions/KIND/NAME.json, ROOT/workloads/KIND/NAME.jsonl, and tensors in
 * safetensors files whose paths begin at ROOT. A single problem is a folder with definition.json and
 * workload.jsonl, and is its own root. */
#include <stdlib.h>
#include <string.h>

#include "tools/import/form.h"
#include "workspace/base/file.h"
#include "workspace/base/limits.h"
#include "workspace/task/stored.h"

#define DEFINITIONS "/definitions/"

/* Where the last /definitions/ begins; NULL: the file is no part of a set. */
static const char *find_set(const char *file)
{
    const char *last = NULL;
    for (const char *at = strstr(file, DEFINITIONS); at; at = strstr(at + 1, DEFINITIONS))
        last = at;
    return last;
}

static char *root_of(const char *file)
{
    const char *set = find_set(file), *slash = strrchr(file, '/');
    if (set != NULL)
        return hone_sprintf("%.*s", (int)(set - file), file);
    return slash ? hone_sprintf("%.*s", (int)(slash - file), file) : hone_strdup(".");
}

static char *workloads_of(const char *file)
{
    const char *set = find_set(file);
    HONE_AUTOFREE char *root = root_of(file);
    if (set != NULL)
        return hone_sprintf("%s/workloads/%sl", root, set + strlen(DEFINITIONS));
    char *path = hone_sprintf("%s/workload.jsonl", root);
    if (hone_file_exists(path))
        return path;
    free(path);
    return hone_sprintf("%sl", file);
}

int hone_form_gather_flashinfer(const char *file, struct hone_json *files, struct hone_err *err)
{
    HONE_AUTOFREE char *workloads = workloads_of(file);
    int rc = hone_form_add(files, "definition.json", file, err);
    if (rc == 0 && hone_file_exists(workloads))
        rc = hone_form_add(files, "workloads.jsonl", workloads, err);
    return rc;
}

/* A path of the set, also behind links, below its root. */
static int read_inside(const char *file, const char *name, char **ret, size_t *ret_len,
                       struct hone_err *err)
{
    HONE_AUTOFREE char *root = root_of(file);
    HONE_AUTOFREE char *joined = hone_path_join(root, name, NULL);
    HONE_AUTOFREE char *real_root = realpath(root, NULL);
    HONE_AUTOFREE char *path = realpath(joined, NULL);
    if (path == NULL || real_root == NULL)
        return hone_fail(err, HONE_E_ARG, "refused: the stored inputs '%.200s' are not there",
                         name);
    size_t len = strlen(real_root);
    if (name[0] == '/' || strncmp(path, real_root, len) != 0 || path[len] != '/')
        return hone_fail(err, HONE_E_ARG,
                         "refused: the stored inputs '%.200s' lie outside of the suite's folder",
                         name);
    return hone_file_read(path, HONE_LIMIT_IMPORT_STORED, ret, ret_len, err);
}

/* The pack's file holds one tensor under the input's own name. */
static int write_one(const char *dir, const char *input, const char *dtype,
                     const struct hone_stored_view *view, struct hone_err *err)
{
    static const struct {
        const char *name, *word;
    } words[] = {{"float16", "F16"}, {"bfloat16", "BF16"}, {"float32", "F32"},
                 {"float64", "F64"}, {"int32", "I32"},     {"int64", "I64"}};
    HONE_CLEANUP(hone_buf_done) struct hone_buf text = HONE_BUF_INIT;
    HONE_AUTOFREE char *name = hone_sprintf("%s/%s.safetensors", dir, input);
    long long bytes = (long long)(view->n * hone_dtype_bytes(view->dtype));
    const char *word = "";
    for (size_t i = 0; i < HONE_COUNTOF(words); i++)
        word = strcmp(words[i].name, dtype) == 0 ? words[i].word : word;
    HONE_AUTOFREE char *head =
        hone_sprintf("{\"%s\":{\"dtype\":\"%s\",\"shape\":[%lld,%lld],\"data_offsets\":[0,%lld]}}",
                     input, word, (long long)(view->n / view->row), (long long)view->row, bytes);
    uint64_t len = strlen(head);
    hone_buf_add(&text, (const char *)&len, sizeof len);
    hone_buf_add(&text, head, len);
    hone_buf_add(&text, view->data, (size_t)bytes);
    return hone_file_write(name, text.data, text.len, 0644, false, err);
}

/* Roles whose content may come from a file (docs/tasks.md, "stored"), and what integers must be. */
static const struct storable {
    const char *role;
    int (*check)(const struct hone_stored_view *view, int64_t bound, struct hone_err *err);
} storable[] = {{"activation", NULL},
                {"weight", NULL},
                {"index", hone_stored_check_index},
                {"offsets", hone_stored_check_offsets}};

static const struct storable *find_stored(const struct hone_json *tensor)
{
    const char *role = hone_json_get_str(tensor, "role", "");
    bool is_float = strstr(hone_json_get_str(tensor, "dtype", ""), "float") != NULL;
    for (size_t i = 0; i < HONE_COUNTOF(storable); i++)
        if (strcmp(storable[i].role, role) == 0 && is_float == (storable[i].check == NULL))
            return &storable[i];
    return NULL;
}

/* The shape that the workload's sizes make. */
static bool is_shape(const struct hone_stored_view *view, const struct hone_json *shape)
{
    size_t d = 0;
    for (const struct hone_json *c = hone_json_first(shape); c; c = hone_json_next(c), d++) {
        int64_t size = 0;
        if (d == view->rank || !hone_json_as_i64(c, &size) || size != view->shape[d])
            return false;
    }
    return d == view->rank;
}

static int check(const struct hone_json *row, const struct hone_json *tensor,
                 const struct hone_stored_view *view, const char *name, struct hone_err *err)
{
    const struct storable *how = find_stored(tensor);
    const char *dtype = hone_json_get_str(tensor, "dtype", "");
    const char *input = hone_json_get_str(row, "input", "");
    if (strcmp(hone_dtype_name(view->dtype), dtype) != 0)
        return hone_fail(err, HONE_E_ARG, "refused: '%.200s' holds %s, the definition says %s",
                         name, hone_dtype_name(view->dtype), dtype);
    if (!is_shape(view, hone_json_get(row, "shape"))) {
        HONE_AUTOFREE char *shape = hone_json_print(hone_json_get(row, "shape"));
        return hone_fail(err, HONE_E_ARG,
                         "refused: '%.200s' holds '%.64s' in another shape than the workload's "
                         "sizes say, %.100s",
                         name, input, shape);
    }
    int64_t bound = hone_json_get_i64(row, "below", HONE_STORED_ANY);
    if (how != NULL && how->check != NULL && how->check(view, bound, err) < 0)
        return hone_wrap(err, "refused: '%.200s', %s '%.64s'", name, how->role, input);
    return 0;
}

static int store(const char *dir, const char *file, const struct hone_json *row,
                 struct hone_json *tensor, struct hone_err *err)
{
    HONE_AUTOFREE char *bytes = NULL;
    struct hone_stored_view view;
    size_t len = 0;
    const char *name = hone_json_get_str(row, "file", "");
    int rc = read_inside(file, name, &bytes, &len, err);
    if (rc < 0)
        return rc;
    rc = hone_stored_find(bytes, len, hone_json_get_str(row, "key", ""), &view, err);
    if (rc < 0)
        return hone_wrap(err, "refused: the stored inputs '%.200s'", name);
    rc = check(row, tensor, &view, name, err);
    if (rc < 0 || find_stored(tensor) == NULL || !hone_json_get_bool(row, "goes_along", false))
        return rc;
    const char *dtype = hone_json_get_str(tensor, "dtype", "");
    const char *input = hone_json_get_str(row, "input", "");
    HONE_AUTOFREE char *of_pack = hone_sprintf("%s.safetensors", input);
    hone_json_set_str(tensor, "stored", of_pack);
    return write_one(dir, input, dtype, &view, err);
}

int hone_form_store(const char *dir, const char *file, const struct hone_json *said,
                    struct hone_err *err)
{
    int rc = 0;
    for (const struct hone_json *row = hone_json_first(hone_json_get(said, "stored"));
         rc == 0 && row != NULL; row = hone_json_next(row)) {
        struct hone_json *tensor =
            hone_json_get(hone_json_get(said, "inputs"), hone_json_get_str(row, "input", ""));
        if (tensor == NULL || !hone_is_safe_name(hone_json_get_str(row, "input", "")))
            return hone_fail(err, HONE_E_ARG, "the description stores an unknown input");
        rc = store(dir, file, row, tensor, err);
    }
    return rc;
}
