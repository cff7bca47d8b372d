/* SPDX-License-Identifier: Apache-2.0 */
/* The two texts, and what is told about them. The steps: tokens (split_lex.c), declarations
 * (split_parse.c), stubs and launches (split_launch.c), what stays (split_keep.c); here the texts
 * are put together. Blanking keeps offsets, newlines and directives; only the host text gets
 * insertions, at the end. */
#include "tools/runner/cuda/split/split_internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "workspace/base/limits.h"

int split_fail(struct split_state *s, int64_t line, const char *fmt, ...)
{
    char text[300];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    return hone_fail(s->err, HONE_E_ARG, "line %lld: %s", (long long)line, text);
}

/* Spaces from start to end; newlines stay, with the backslash in front of them, and so do
 * directives that begin inside. */
void split_blank(const struct split_state *s, char *text, size_t start, size_t end)
{
    const struct split_directive *d = s->directives.v;
    size_t next = 0, high = s->directives.n;
    while (next < high) { /* the first directive at or behind start */
        size_t middle = (next + high) / 2;
        if (d[middle].start < start)
            next = middle + 1;
        else
            high = middle;
    }
    for (size_t i = start; i < end; i++) {
        if (next < s->directives.n && i == d[next].start) {
            i = d[next++].end - 1;
            continue;
        }
        bool is_splice = text[i] == '\\' && (text[i + 1] == '\n' || text[i + 1] == '\r');
        if (text[i] != '\n' && text[i] != '\r' && !is_splice)
            text[i] = ' ';
    }
}

/* Headers that host code has no use for, or that the host's compiler cannot read. */
static bool is_device_header(const char *name)
{
    static const char *const names[] = {"mma.h",
                                        "sm_60_atomic_functions.h",
                                        "device_functions.h",
                                        "cuda_pipeline.h",
                                        "cuda_pipeline_primitives.h",
                                        "cuda_pipeline_helpers.h",
                                        "math_functions.h",
                                        "device_atomic_functions.h"};
    static const char *const folders[] = {"cooperative_groups", "cuda/", "cub/", "crt/"};
    for (size_t i = 0; i < HONE_COUNTOF(names); i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    for (size_t i = 0; i < HONE_COUNTOF(folders); i++)
        if (strncmp(name, folders[i], strlen(folders[i])) == 0)
            return true;
    return false;
}

static void take_includes(struct split_state *s)
{
    const struct split_directive *d = s->directives.v;
    struct hone_split_include *v = hone_pool_alloc(s->pool, (s->directives.n + 1) * sizeof *v);
    size_t n = 0;
    for (size_t i = 0; i < s->directives.n; i++) {
        if (d[i].include == NULL)
            continue;
        v[n] = (struct hone_split_include){.name = d[i].include,
                                           .is_system = d[i].is_system,
                                           .is_in_host = !is_device_header(d[i].include),
                                           .line = d[i].line};
        for (size_t at = d[i].start; at < d[i].end && !v[n].is_in_host; at++)
            if (s->host[at] != '\n')
                s->host[at] = ' ';
        n++;
    }
    s->ret->includes = (struct hone_array){v, n};
}

static void take_defines(struct split_state *s)
{
    const struct split_directive *d = s->directives.v;
    const struct split_item *items = s->items.v;
    struct hone_split_define *v =
        hone_pool_alloc(s->pool, (s->directives.n + s->items.n + 1) * sizeof *v);
    size_t n = 0;
    for (size_t i = 0; i < s->directives.n; i++)
        if (d[i].name != 0)
            v[n++] = (struct hone_split_define){
                .name = s->names[d[i].name], .line = d[i].line, .is_guarded = d[i].is_guarded};
    for (size_t i = 0; i < s->items.n; i++)
        if (items[i].kind == SPLIT_DECLARATION && items[i].name != 0 && !items[i].is_in_macro &&
            items[i].parent == SIZE_MAX && items[i].params_first == 0 && !items[i].is_typedef)
            v[n++] = (struct hone_split_define){.name = s->names[items[i].name],
                                                .line = s->tokens.v[items[i].name_token].line};
    s->ret->defines = (struct hone_array){v, n};
}

static int compare_edits(const void *a, const void *b)
{
    const struct split_edit *x = a, *y = b;
    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

/* Edits inside of what was blanked would bring words back. */
static bool is_blanked(const struct split_state *s, const struct split_edit *edit)
{
    size_t at = edit->at;
    if (edit->is_stub)
        return false;
    bool was_text = s->source[at] != ' ' && s->source[at] != '\n';
    bool was_text_before = at > 0 && s->source[at - 1] != ' ' && s->source[at - 1] != '\n';
    return (was_text && at < s->len && s->host[at] == ' ') ||
           (was_text_before && s->host[at - 1] == ' ' && !s->dropped[at - 1]);
}

static int put_together(struct split_state *s)
{
    HONE_CLEANUP(hone_buf_done) struct hone_buf buf = {.limit = 8 * HONE_LIMIT_SOURCE_BYTES};
    if (s->n_edits > 0)
        qsort(s->edits, s->n_edits, sizeof *s->edits, compare_edits);
    size_t next = 0, done = 0;
    for (size_t at = 0; at <= s->len; at++) {
        bool is_edit = next < s->n_edits && s->edits[next].at == at;
        bool is_dropped = at < s->len && s->dropped[at];
        if (!is_edit && !is_dropped && at < s->len)
            continue;
        hone_buf_add(&buf, s->host + done, at - done);
        done = at;
        for (; next < s->n_edits && s->edits[next].at == at; next++) {
            const struct split_edit *edit = &s->edits[next];
            bool is_gone = is_blanked(s, edit);
            hone_buf_str(&buf, is_gone ? "" : edit->text);
            if (edit->more != NULL) { /* the newlines of what is dropped further on, in any case */
                hone_buf_add(&buf, s->host + edit->move_start, edit->move_end - edit->move_start);
                hone_buf_str(&buf, is_gone ? "" : edit->more);
            }
        }
        if (is_dropped)
            done = at + 1;
    }
    int rc = hone_buf_check(&buf, s->err);
    if (rc == 0)
        s->ret->host = hone_pool_strdup(s->pool, buf.data == NULL ? "" : buf.data);
    return rc;
}

int hone_split(const char *source, size_t len, struct hone_pool *pool, struct hone_split *ret,
               struct hone_err *err)
{
    struct hone_split split = {0};
    struct split_state s = {.source = source, .len = len, .pool = pool, .err = err, .ret = &split};
    if (len > HONE_LIMIT_SOURCE_BYTES)
        return hone_fail(err, HONE_E_LIMIT, "the source is %zu bytes, at most %u are accepted", len,
                         HONE_LIMIT_SOURCE_BYTES);
    if (memchr(source, '\0', len) != NULL)
        return hone_fail(err, HONE_E_ARG, "the source has a zero byte; it must be text");
    s.source = s.spelling = hone_pool_strndup(pool, source, len);
    s.host = hone_pool_strndup(pool, source, len);
    s.device = hone_pool_strndup(pool, source, len);
    s.dropped = hone_pool_alloc(pool, len + 1);
    int rc = split_lex(&s);
    if (rc == 0)
        rc = split_parse(&s);
    if (rc == 0)
        rc = split_launches(&s);
    if (rc == 0)
        rc = split_keep(&s);
    if (rc == 0)
        rc = split_kernels(&s);
    if (rc < 0)
        return rc;
    take_includes(&s);
    take_defines(&s);
    rc = put_together(&s);
    if (rc < 0)
        return rc;
    split.device = s.device;
    *ret = split;
    return 0;
}

int hone_split_check_tunables(const struct hone_split *split, const struct hone_array *tunables,
                              struct hone_err *err)
{
    const struct hone_split_define *defines = split->defines.v;
    const struct hone_tunable *tunable = tunables->v;
    for (size_t i = 0; i < split->defines.n; i++)
        for (size_t k = 0; k < tunables->n; k++)
            if (strcmp(defines[i].name, tunable[k].name) == 0 && !defines[i].is_guarded)
                return hone_fail(
                    err, HONE_E_ARG,
                    "line %lld defines %s, so tune(%s: ...) would have no effect. fix: "
                    "remove line %lld, or wrap it in #ifndef %s and #endif",
                    (long long)defines[i].line, defines[i].name, defines[i].name,
                    (long long)defines[i].line, defines[i].name);
    return 0;
}

static const struct hone_split_kernel *only_kernel(const struct hone_split *split, const char *name)
{
    const struct hone_split_kernel *kernels = split->kernels.v, *found = NULL;
    for (size_t i = 0; name != NULL && i < split->kernels.n; i++) {
        if (strcmp(kernels[i].name, name) != 0)
            continue;
        if (found != NULL)
            return NULL;
        found = &kernels[i];
    }
    return found;
}

static const char *explain_count(const struct hone_split_kernel *kernel, int64_t n_args,
                                 struct hone_pool *pool)
{
    const struct hone_split_param *params = kernel->params.v;
    int64_t n = (int64_t)kernel->params.n, least = 0;
    for (int64_t i = 0; i < n; i++)
        least += !params[i].is_optional;
    if (n_args < least)
        return hone_pool_printf(
            pool, "%s has %lld parameters, %lld arguments given; parameter %lld is '%s'",
            kernel->name, (long long)n, (long long)n_args, (long long)n_args + 1,
            params[n_args].text);
    if (n_args > n)
        return hone_pool_printf(pool, "%s has %lld parameters, %lld arguments given", kernel->name,
                                (long long)n, (long long)n_args);
    return NULL;
}

const char *hone_split_explain(const struct hone_split *split, int64_t line, const char *message,
                               struct hone_pool *pool)
{
    const struct hone_split_launch *launches = split->launches.v;
    bool is_count = strstr(message, "few arguments") != NULL ||
                    strstr(message, "many arguments") != NULL ||
                    strstr(message, "no matching function") != NULL;
    for (size_t i = 0; is_count && i < split->launches.n; i++) {
        const struct hone_split_kernel *kernel = only_kernel(split, launches[i].kernel);
        if (launches[i].line != line || kernel == NULL || launches[i].n_args < 0)
            continue;
        const char *text = explain_count(kernel, launches[i].n_args, pool);
        if (text != NULL)
            return text;
    }
    return NULL;
}
