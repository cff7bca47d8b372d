/* SPDX-License-Identifier: Apache-2.0 */
/* Flow: `extern "C" {` goes; the launcher is found, or written for a kernel; words that have no
 * meaning in C are refused; then the text is written as C twice, to compute and to be read. */
#include <string.h>

#include "tools/task/cuda_in_internal.h"

bool hone_cuda_in_is(const char *path)
{
    size_t n = strlen(path);
    return n > 3 && strcmp(path + n - 3, ".cu") == 0;
}

static int read_again(struct hone_cu_view *v, const struct hone_cuda_in *in)
{
    struct hone_cuda_in_options *again = hone_pool_alloc(v->pool, sizeof(*again));
    *again = *v->options;
    again->function = in->function;
    v->options = again;
    int code = hone_cu_read(v, in->cuda);
    return code == 0 ? hone_cu_choose(v) : code;
}

/* The task's name is the function's that hone calls: another of that name gets a new one. */
static int free_name(struct hone_cu_view *v, struct hone_cuda_in *in)
{
    const char *name = v->options->name ? v->options->name : in->name;
    const char *now = hone_pool_printf(v->pool, "%s_kernel", name);
    size_t k = 0;
    while (k < v->n && (k == v->launcher || !hone_cu_is(v, v->d[k].name, name)))
        k++;
    if (k == v->n)
        return 0;
    while (hone_cu_has_word(v, 0, v->t.n, now))
        now = hone_pool_printf(v->pool, "%s_", now);
    HONE_AUTOFREE char *renamed = hone_prototype_rename(in->cuda, name, now);
    in->cuda = hone_pool_strdup(v->pool, renamed);
    return read_again(v, in);
}

/* The function of an instance is the one asked for. */
static void ask_for_instance(struct hone_cu_view *v)
{
    const char *instance = v->options->instance;
    struct hone_cuda_in_options *own = hone_pool_alloc(v->pool, sizeof(*own));
    *own = *v->options;
    if (instance && !own->function)
        own->function = hone_pool_strndup(v->pool, instance, strcspn(instance, "< "));
    v->options = own;
}

/* Templates are written out, then the function is found. */
static int read_file(struct hone_cu_view *v, struct hone_cuda_in *in)
{
    const char *left_out = NULL;
    struct hone_err why = HONE_ERR_INIT;
    int code = v->options->has_reference
                   ? 0
                   : hone_cu_write_templates(v->options, v->pool, &in->cuda, &in->instances,
                                             &left_out, v->err);
    ask_for_instance(v);
    if (code == 0)
        code = hone_cu_read(v, in->cuda);
    if (code == 0)
        code = hone_cu_refuse(v);
    if (code < 0)
        return code;
    struct hone_err *err = v->err;
    v->err = &why;
    code = hone_cu_choose(v);
    v->err = err;
    return code == 0 ? 0
                     : hone_fail(err, left_out ? HONE_E_ARG : why.code, "%s",
                                 left_out ? left_out : why.message);
}

/* In macros, too: the whole text is looked at. */
static bool is_in_turn(const char *source)
{
    static const char *const parts[] = {"atomic", "__threadfence", "volatile"};
    for (size_t k = 0; k < HONE_COUNTOF(parts); k++)
        if (strstr(source, parts[k]) != NULL)
            return true;
    return false;
}

int hone_cuda_in_read(const struct hone_cuda_in_options *options, struct hone_pool *pool,
                      struct hone_cuda_in *ret, struct hone_err *err)
{
    static const char *const barriers[] = {
        "__syncthreads",   "__syncwarp",          "__shfl_down_sync", "__shfl_up_sync",
        "__shfl_xor_sync", "__shfl_sync",         "__ballot_sync",    "__any_sync",
        "__all_sync",      "__syncthreads_count", "__syncthreads_or", NULL};
    HONE_CLEANUP(hone_buf_done) struct hone_buf buf = HONE_BUF_INIT;
    struct hone_cu_view *v = hone_pool_alloc(pool, sizeof(*v));
    struct hone_cuda_in in = {.cuda = options->source};
    v->pool = pool;
    v->err = err;
    v->options = options;
    v->buf = &buf;
    int code = read_file(v, &in);
    if (code < 0)
        return code;
    in.name = in.function = hone_cu_word(v, v->d[v->launcher].name);
    if (hone_cu_is_on_device(v, v->launcher)) {
        if ((code = hone_cu_add_launcher(v, &in.cuda, &in.function)) < 0)
            return code;
        code = read_again(v, &in);
    }
    if (code == 0)
        code = free_name(v, &in);
    if (code < 0)
        return code;
    in.is_static = v->d[v->launcher].is_static;
    for (size_t i = 0; i < v->t.n; i++)
        in.has_barriers = in.has_barriers || hone_cu_is_listed(v, i, barriers);
    in.is_in_turn = is_in_turn(v->t.source);
    hone_cu_put_all(v, &in);
    in.c = hone_pool_strdup(pool, buf.data ? buf.data : "");
    hone_buf_drop(&buf, buf.len);
    v->is_plain = true;
    hone_cu_put_all(v, &in);
    in.plain = hone_pool_strdup(pool, buf.data ? buf.data : "");
    *ret = in;
    return 0;
}

/* ---- directions ---- */

static enum hone_access access_in_kernel(const struct hone_cu_view *v, const char *plain, size_t k,
                                         size_t param)
{
    struct hone_prototype *p = hone_pool_alloc(v->pool, sizeof(*p));
    return hone_prototype_parse(plain, hone_cu_word(v, v->d[k].name), v->pool, p, NULL) < 0 ||
                   param >= p->n_params
               ? HONE_ACCESS_UNKNOWN
               : hone_prototype_access(plain, p, p->params[param].name, v->pool);
}

/* The function that is called at token i; v->n: none of the file. */
static size_t find_callee(const struct hone_cu_view *v, size_t i)
{
    size_t k = 0;
    while (k < v->n && !(hone_cu_is(v, i + 1, "(") && hone_c_is_word(&v->t.v[i]) &&
                         hone_cu_is(v, i, hone_cu_word(v, v->d[k].name))))
        k++;
    return k;
}

enum hone_access hone_cuda_in_access(const struct hone_cuda_in *in, const char *name,
                                     struct hone_pool *pool)
{
    struct hone_cu_view *v = hone_pool_alloc(pool, sizeof(*v));
    struct hone_cu_range args[HONE_CU_ARGUMENTS];
    enum hone_access found = HONE_ACCESS_NONE;
    size_t at = 0;
    v->pool = pool;
    if (hone_cu_read(v, in->plain) < 0)
        return HONE_ACCESS_UNKNOWN;
    while (at < v->n && !hone_cu_is(v, v->d[at].name, in->function))
        at++;
    for (size_t i = at < v->n ? v->d[at].close : v->t.n; at < v->n && i < v->d[at].end; i++) {
        bool is_fill = hone_cu_is(v, i, "memset"), is_copy = hone_cu_is(v, i, "memcpy");
        size_t k = find_callee(v, i);
        size_t n = is_fill || is_copy || k < v->n
                       ? hone_cu_split(v, i + 2, hone_c_closing(&v->t, i + 1), args)
                       : 0;
        for (size_t a = 0; a < n && (a < 2 || k < v->n); a++) {
            if (!hone_cu_has_word(v, args[a].first, args[a].end, name))
                continue;
            enum hone_access now = k < v->n ? access_in_kernel(v, in->plain, k, a)
                                   : a == 0 ? HONE_ACCESS_WRITE_FIRST
                                            : HONE_ACCESS_READ;
            if (found == HONE_ACCESS_NONE || found == HONE_ACCESS_UNKNOWN)
                found = now;
            else if (found == HONE_ACCESS_READ && now != HONE_ACCESS_READ &&
                     now != HONE_ACCESS_NONE)
                found = HONE_ACCESS_READ_FIRST;
        }
    }
    return found == HONE_ACCESS_NONE ? HONE_ACCESS_UNKNOWN : found;
}
