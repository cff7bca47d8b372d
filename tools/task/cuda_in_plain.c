/* SPDX-License-Identifier: Apache-2.0 */
/* A CUDA file as C that is read and never compiled, for extent.h and prototype.h: a launch is loops
 * over blocks and threads around a call, a kernel gets its indexes as parameters, an atomic
 * operation is an assignment. */
#include <string.h>

#include "tools/task/cuda_in_internal.h"

static const char *const indexes[] = {"blockIdx", "threadIdx", "gridDim", "blockDim", NULL};
static const char axes[] = "xyz";

/* The parts of `dim3 name(...)` or `dim3 name = dim3(...)` in function k. */
static struct hone_cu_range declared(const struct hone_cu_view *v, size_t k, const char *name)
{
    for (size_t i = v->d[k].close + 2; i < v->d[k].end; i++) {
        size_t open = hone_cu_is(v, i + 1, "=") && hone_cu_is(v, i + 2, "dim3") ? i + 3 : i + 1;
        bool is_declared = hone_cu_is(v, i - 1, "dim3") || hone_cu_is(v, i - 1, ",");
        if (is_declared && hone_cu_is(v, i, name) && hone_cu_is(v, open, "("))
            return (struct hone_cu_range){open + 1, hone_c_closing(&v->t, open)};
    }
    return (struct hone_cu_range){0, 0};
}

/* x, y and z of a grid or a block; how many are said. */
static size_t split_dim(const struct hone_cu_view *v, size_t k, struct hone_cu_range r,
                        struct hone_cu_range ret[HONE_CU_ARGUMENTS])
{
    if (hone_cu_is(v, r.first, "dim3") && hone_cu_is(v, r.first + 1, "(")) {
        r = (struct hone_cu_range){r.first + 2, hone_c_closing(&v->t, r.first + 1)};
    } else if (r.end == r.first + 1 && hone_c_is_word(&v->t.v[r.first])) {
        struct hone_cu_range at = declared(v, k, hone_cu_word(v, r.first));
        r = at.end > at.first ? at : r;
    }
    size_t n = hone_cu_split(v, r.first, r.end, ret);
    return n < 3 ? n : 3;
}

static void put_size(struct hone_cu_view *v, const struct hone_cu_range *parts, size_t n, size_t a)
{
    if (a >= n) {
        hone_buf_str(v->buf, "1");
        return;
    }
    hone_buf_str(v->buf, "(");
    hone_cu_put_part(v, parts[a].first, parts[a].end);
    hone_buf_str(v->buf, ")");
}

static size_t put_launch(struct hone_cu_view *v, size_t i, struct hone_cu_range config, size_t open)
{
    struct hone_cu_range parts[HONE_CU_ARGUMENTS], dims[2][HONE_CU_ARGUMENTS]; /* grid, block */
    size_t close = hone_c_closing(&v->t, open), n[2] = {0, 0}, k = 0;
    size_t n_parts = hone_cu_split(v, config.first, config.end, parts);
    while (k + 1 < v->n && i > v->d[k].end)
        k++;
    for (size_t d = 0; d < 2 && d < n_parts; d++)
        n[d] = split_dim(v, k, parts[d], dims[d]);
    for (size_t d = 0; d < 2; d++)
        for (size_t a = 0; a < n[d]; a++) {
            const char *name = hone_pool_printf(v->pool, "%s_%c", indexes[d], axes[a]);
            hone_buf_printf(v->buf, "for (int64_t %s = 0; %s < ", name, name);
            put_size(v, dims[d], n[d], a);
            hone_buf_printf(v->buf, "; %s++) ", name);
        }
    hone_buf_printf(v->buf, "%s(", hone_cu_word(v, i));
    hone_cu_put_part(v, open + 1, close);
    for (size_t d = 0; d < 2; d++)
        for (size_t a = 0; a < 3; a++)
            a < n[d] ? hone_buf_printf(v->buf, ", %s_%c", indexes[d], axes[a])
                     : hone_buf_str(v->buf, ", 0");
    for (size_t d = 0; d < 2; d++)
        for (size_t a = 0; a < 3; a++) {
            hone_buf_str(v->buf, ", ");
            put_size(v, dims[d], n[d], a);
        }
    hone_buf_str(v->buf, ")");
    return close + 1;
}

static void put_indexes(struct hone_cu_view *v)
{
    for (const char *const *index = indexes; *index; index++)
        for (const char *a = axes; *a; a++)
            hone_buf_printf(v->buf, ", int64_t %s_%c", *index, *a);
    hone_buf_str(v->buf, ")");
}

/* What a pointer points to: &p[E], p + E, p. */
static void put_element(struct hone_cu_view *v, struct hone_cu_range r)
{
    bool is_name = hone_c_is_word(&v->t.v[r.first]);
    if (hone_cu_is(v, r.first, "&")) {
        hone_cu_put_part(v, r.first + 1, r.end);
    } else if (is_name && (r.end == r.first + 1 || hone_cu_is(v, r.first + 1, "+"))) {
        hone_buf_printf(v->buf, "%s[", hone_cu_word(v, r.first));
        r.end > r.first + 2 ? hone_cu_put_part(v, r.first + 2, r.end) : hone_buf_str(v->buf, "0");
        hone_buf_str(v->buf, "]");
    } else {
        hone_buf_str(v->buf, "*(");
        hone_cu_put_part(v, r.first, r.end);
        hone_buf_str(v->buf, ")");
    }
}

/* A call that C has no word for. */
static size_t put_call(struct hone_cu_view *v, size_t i)
{
    static const struct {
        const char *from, *to; /* to: with the same first three arguments; NULL: an element */
    } rows[] = {
        {"cudaMemset", "memset"}, {"cudaMemsetAsync", "memset"},
        {"cudaMemcpy", "memcpy"}, {"cudaMemcpyAsync", "memcpy"},
        {"__ldg", NULL},          {"__ldcs", NULL},
        {"__ldcg", NULL},
    };
    struct hone_cu_range args[HONE_CU_ARGUMENTS];
    size_t close = hone_c_closing(&v->t, i + 1), n = hone_cu_split(v, i + 2, close, args);
    bool is_atomic = v->t.v[i].len > 6 && strncmp(v->t.v[i].at, "atomic", 6) == 0;
    if (is_atomic && n > 1) {
        hone_buf_str(v->buf, "(");
        put_element(v, args[0]);
        hone_buf_str(v->buf, " += ");
        hone_cu_put_part(v, args[n - 1].first, args[n - 1].end);
        hone_buf_str(v->buf, ")");
        return close + 1;
    }
    for (size_t k = 0; k < HONE_COUNTOF(rows); k++) {
        if (!hone_cu_is(v, i, rows[k].from) || n < (rows[k].to ? 3 : 1))
            continue;
        if (rows[k].to) {
            hone_buf_printf(v->buf, "%s(", rows[k].to);
            hone_cu_put_part(v, args[0].first, args[2].end);
            hone_buf_str(v->buf, ")");
        } else {
            put_element(v, args[0]);
        }
        return close + 1;
    }
    return i;
}

size_t hone_cu_put_plain(struct hone_cu_view *v, size_t i)
{
    struct hone_cu_range config;
    size_t open, next = i;
    if (hone_cu_is_listed(v, i, indexes) && hone_cu_is(v, i + 1, ".")) {
        hone_buf_printf(v->buf, "%s_%s", hone_cu_word(v, i), hone_cu_word(v, i + 2));
        next = i + 3;
    } else if (hone_cu_is_launch(v, i, &config, &open)) {
        next = put_launch(v, i, config, open);
    } else if (hone_c_is_word(&v->t.v[i]) && hone_cu_is(v, i + 1, "(")) {
        next = put_call(v, i);
    }
    for (size_t k = 0; k < v->n && next == i; k++)
        if (i == v->d[k].close && hone_cu_is_kernel(v, k)) {
            put_indexes(v);
            next = i + 1;
        }
    if (next > i)
        v->done = v->t.v[next - 1].at + v->t.v[next - 1].len;
    return next;
}
