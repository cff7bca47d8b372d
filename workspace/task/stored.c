/* SPDX-License-Identifier: Apache-2.0 */
/* Stored inputs: a safetensors file as hostile bytes, and what its values must be.
 *
 * The whole header is read and checked before a tensor is looked at: find_member. What a role says of
 * integers is one row of checks. No state; limits: HONE_LIMIT_STORED_TENSORS,
 * HONE_LIMIT_STORED_HEADER_BYTES, HONE_LIMIT_RANK, HONE_LIMIT_ELEMENTS. */
#include "workspace/task/stored.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "workspace/base/file.h"
#include "workspace/base/json.h"
#include "workspace/task/task_internal.h"

#define HEAD_BYTES 8
#define METADATA   "__metadata__"

static const struct {
    const char *word;
    enum hone_dtype dtype;
} words[] = {{"F16", HONE_DTYPE_F16},  {"BF16", HONE_DTYPE_BF16}, {"F32", HONE_DTYPE_F32},
             {"F64", HONE_DTYPE_F64},  {"I8", HONE_DTYPE_I8},     {"I16", HONE_DTYPE_I16},
             {"I32", HONE_DTYPE_I32},  {"I64", HONE_DTYPE_I64},   {"U8", HONE_DTYPE_U8},
             {"U16", HONE_DTYPE_U16},  {"U32", HONE_DTYPE_U32},   {"U64", HONE_DTYPE_U64},
             {"BOOL", HONE_DTYPE_BOOL}};

struct part { /* one tensor's place in the data */
    int64_t begin, end;
};

static int by_begin(const void *a, const void *b)
{
    const struct part *x = a, *y = b;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    return x->end < y->end ? -1 : x->end > y->end;
}

/* shape to elements; an empty list is one element. */
static int read_shape(const struct hone_json *shape, struct hone_stored_view *ret,
                      struct hone_err *err)
{
    if (hone_json_type(shape) != HONE_JSON_ARRAY || hone_json_size(shape) > HONE_LIMIT_RANK)
        return hone_fail_at(err, HONE_E_ARG, "shape", "must be a list of at most %d sizes",
                            HONE_LIMIT_RANK);
    ret->n = ret->row = 1;
    ret->rank = 0;
    for (const struct hone_json *c = hone_json_first(shape); c; c = hone_json_next(c)) {
        if (!hone_json_as_i64(c, &ret->row) || ret->row < 1 ||
            __builtin_mul_overflow(ret->n, ret->row, &ret->n) || ret->n > HONE_LIMIT_ELEMENTS)
            return hone_fail_at(err, HONE_E_ARG, "shape",
                                "sizes are 1 or more, at most %lld in all",
                                (long long)HONE_LIMIT_ELEMENTS);
        ret->shape[ret->rank++] = ret->row;
    }
    return 0;
}

/* One member of the header; room: bytes of the data. */
static int read_member(const struct hone_json *json, int64_t room, struct hone_stored_view *ret,
                       struct part *ret_part, struct hone_err *err)
{
    const char *word = hone_json_get_str(json, "dtype", "");
    const struct hone_json *offsets = hone_json_get(json, "data_offsets");
    const struct hone_json *first = hone_json_first(offsets);
    size_t i = 0;
    while (i < HONE_COUNTOF(words) && strcmp(words[i].word, word) != 0)
        i++;
    if (i == HONE_COUNTOF(words))
        return hone_fail_at(err, HONE_E_ARG, "dtype", "'%.20s' is none that hone knows", word);
    ret->dtype = words[i].dtype;
    if (read_shape(hone_json_get(json, "shape"), ret, err) < 0)
        return HONE_E_ARG;
    if (hone_json_type(offsets) != HONE_JSON_ARRAY || hone_json_size(offsets) != 2 ||
        !hone_json_as_i64(first, &ret_part->begin) ||
        !hone_json_as_i64(hone_json_next(first), &ret_part->end) || ret_part->begin < 0 ||
        ret_part->end < ret_part->begin || ret_part->end > room)
        return hone_fail_at(err, HONE_E_ARG, "data_offsets",
                            "must be [begin, end] inside the data");
    if (ret_part->end - ret_part->begin != ret->n * hone_dtype_bytes(ret->dtype))
        return hone_fail_at(err, HONE_E_ARG, "data_offsets",
                            "are not as far apart as the shape says");
    return 0;
}

static int check_parts(struct part *parts, size_t n, int64_t room, struct hone_err *err)
{
    int64_t at = 0;
    qsort(parts, n, sizeof(*parts), by_begin);
    for (size_t i = 0; i < n; at = parts[i++].end)
        if (parts[i].begin != at)
            return hone_fail(err, HONE_E_ARG, "its tensors overlap, or leave holes");
    if (at != room)
        return hone_fail(err, HONE_E_ARG, "its tensors do not fill the file");
    return 0;
}

/* The whole header is looked at, whichever tensor is asked for. */
static int find_member(const struct hone_json *header, const char *data, int64_t room,
                       const char *name, struct hone_stored_view *ret, struct hone_err *err)
{
    size_t n = 0;
    bool is_found = false;
    if (hone_json_type(header) != HONE_JSON_OBJECT)
        return hone_fail(err, HONE_E_ARG, "its header is no object");
    if (hone_json_size(header) > HONE_LIMIT_STORED_TENSORS)
        return hone_fail(err, HONE_E_LIMIT, "it holds more than %d tensors",
                         HONE_LIMIT_STORED_TENSORS);
    HONE_AUTOFREE struct part *parts = hone_calloc(hone_json_size(header) + 1, sizeof(*parts));
    for (const struct hone_json *c = hone_json_first(header); c; c = hone_json_next(c)) {
        struct hone_stored_view view = {.data = NULL};
        if (strcmp(hone_json_key(c), METADATA) == 0)
            continue;
        if (read_member(c, room, &view, &parts[n], err) < 0)
            return hone_wrap(err, "tensor '%.60s'", hone_json_key(c));
        view.data = data + parts[n++].begin;
        if (strcmp(hone_json_key(c), name) == 0) {
            *ret = view;
            is_found = true;
        }
    }
    int code = check_parts(parts, n, room, err);
    if (code < 0)
        return code;
    return is_found ? 0 : hone_fail(err, HONE_E_NOT_FOUND, "it holds no tensor '%.60s'", name);
}

int hone_stored_find(const char *bytes, size_t len, const char *name, struct hone_stored_view *ret,
                     struct hone_err *err)
{
    HONE_AUTOJSON struct hone_json *header = NULL;
    uint64_t n = 0;
    for (size_t i = 0; i < HEAD_BYTES && len >= HEAD_BYTES; i++)
        n |= (uint64_t)(unsigned char)bytes[i] << (8 * i);
    if (len < HEAD_BYTES || n > len - HEAD_BYTES)
        return hone_fail(err, HONE_E_ARG, "it is shorter than its header says");
    if (n > HONE_LIMIT_STORED_HEADER_BYTES)
        return hone_fail(err, HONE_E_LIMIT, "its header has %llu bytes, at most %d are accepted",
                         (unsigned long long)n, HONE_LIMIT_STORED_HEADER_BYTES);
    if (hone_json_parse(bytes + HEAD_BYTES, (size_t)n, &header, err) < 0)
        return hone_wrap(err, "its header");
    return find_member(header, bytes + HEAD_BYTES + n, (int64_t)(len - HEAD_BYTES - n), name, ret,
                       err);
}

/* Exponents of all ones: infinities and NaN. */
static bool is_finite(const struct hone_stored_view *view)
{
    static const uint64_t exponents[] = {[HONE_DTYPE_F16] = 0x7c00,
                                         [HONE_DTYPE_BF16] = 0x7f80,
                                         [HONE_DTYPE_F32] = 0x7f800000,
                                         [HONE_DTYPE_F64] = 0x7ff0000000000000};
    size_t bytes = (size_t)hone_dtype_bytes(view->dtype);
    bool is_good = true;
    for (int64_t i = 0; i < view->n && hone_dtype_is_float(view->dtype) && is_good; i++) {
        uint64_t word = 0;
        memcpy(&word, (const char *)view->data + (size_t)i * bytes, bytes);
        is_good = (word & exponents[view->dtype]) != exponents[view->dtype];
    }
    return is_good;
}

/* Of a type that may index: what 64 bits cannot hold counts as negative. */
static int64_t integer_at(const struct hone_stored_view *view, int64_t i)
{
    int64_t bytes = hone_dtype_bytes(view->dtype), wide = 0;
    int32_t narrow = 0;
    const char *at = (const char *)view->data + i * bytes;
    if (bytes == 4)
        memcpy(&narrow, at, sizeof(narrow));
    else
        memcpy(&wide, at, sizeof(wide));
    if (view->dtype == HONE_DTYPE_U32)
        return (int64_t)(uint32_t)narrow;
    return bytes == 4 ? narrow : wide;
}

int hone_stored_check_index(const struct hone_stored_view *view, int64_t below,
                            struct hone_err *err)
{
    for (int64_t i = 0; i < view->n; i++) {
        int64_t value = integer_at(view, i);
        if (value < 0)
            return hone_fail(err, HONE_E_ARG, "element %lld is %lld, an index is 0 or more",
                             (long long)i, (long long)value);
        if (below != HONE_STORED_ANY && value >= below)
            return hone_fail(err, HONE_E_ARG, "element %lld is %lld, it must be below %lld",
                             (long long)i, (long long)value, (long long)below);
    }
    return 0;
}

int hone_stored_check_offsets(const struct hone_stored_view *view, int64_t total,
                              struct hone_err *err)
{
    int64_t before = 0;
    if (view->n < 2)
        return hone_fail(err, HONE_E_ARG, "offsets have two elements or more");
    for (int64_t i = 0; i < view->n; i++) {
        int64_t value = integer_at(view, i);
        if (i == 0 && value != 0)
            return hone_fail(err, HONE_E_ARG, "element 0 is %lld, the first offset is 0",
                             (long long)value);
        if (value < before)
            return hone_fail(err, HONE_E_ARG, "element %lld is %lld, less than %lld before it",
                             (long long)i, (long long)value, (long long)before);
        before = value;
    }
    if (total == HONE_STORED_ANY ? before < 1 : before != total)
        return hone_fail(err, HONE_E_ARG, "element %lld, the last, is %lld, it must be %lld%s",
                         (long long)(view->n - 1), (long long)before,
                         (long long)(total == HONE_STORED_ANY ? 1 : total),
                         total == HONE_STORED_ANY ? " or more" : "");
    return 0;
}

static const struct {
    enum hone_role role;
    int (*check)(const struct hone_stored_view *view, int64_t bound, struct hone_err *err);
} checks[] = {{HONE_ROLE_INDEX, hone_stored_check_index},
              {HONE_ROLE_OFFSETS, hone_stored_check_offsets}};

static int load_one(struct hone_task *task, struct hone_tensor *tensor, struct hone_err *err)
{
    HONE_AUTOFREE char *path = hone_path_join(task->dir, tensor->stored_file, NULL), *bytes = NULL;
    size_t len = 0;
    struct hone_stored_view view;
    int code = hone_file_read(path, HONE_LIMIT_FILE_BYTES, &bytes, &len, err);
    if (code == 0)
        code = hone_stored_find(bytes, len, tensor->name, &view, err);
    if (code < 0)
        return code;
    if (view.dtype != tensor->dtype)
        return hone_fail(err, HONE_E_ARG, "'%s' is %s there, %s in the task", tensor->name,
                         hone_dtype_name(view.dtype), hone_dtype_name(tensor->dtype));
    if (!is_finite(&view))
        return hone_fail(err, HONE_E_ARG, "'%s' holds NaN or infinities", tensor->name);
    for (size_t i = 0; i < HONE_COUNTOF(checks); i++)
        if (tensor->role == checks[i].role && checks[i].check(&view, HONE_STORED_ANY, err) < 0)
            return hone_wrap(err, "'%s'", tensor->name);
    size_t n_bytes = (size_t)(view.n * hone_dtype_bytes(view.dtype));
    void *kept = hone_pool_alloc(task->pool, n_bytes);
    memcpy(kept, view.data, n_bytes);
    tensor->stored = kept;
    tensor->n_stored = view.n;
    tensor->stored_row = view.row;
    return 0;
}

int hone_task_load_stored(struct hone_task *task, struct hone_err *err)
{
    for (size_t i = 0; i < task->n_inputs; i++)
        if (task->inputs[i].stored_file && load_one(task, &task->inputs[i], err) < 0)
            return hone_wrap(err, "%s", task->inputs[i].stored_file);
    return 0;
}
