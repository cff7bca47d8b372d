/* SPDX-License-Identifier: Apache-2.0 */
/* A CUDA file as C, token by token (cuda_in.h): launches, casts, dim3 and qualifiers are
 * replaced. Behind each kernel stands a function that keeps its arguments, and one that calls it
 * with them. What is overlooked does not compile, and the lint says so. */
#include <string.h>

#include "tools/task/cuda_in_internal.h"

/* Text between tokens, without includes: the head has them. */
static void put_gap(struct hone_cu_view *v, const char *end)
{
    for (const char *at = v->done; at < end;) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        const char *mark = at + strspn(at, " \t");
        size_t len = stop ? (size_t)(stop + 1 - at) : (size_t)(end - at);
        bool is_include = *mark == '#' && strncmp(mark + 1 + strspn(mark + 1, " \t"), "include",
                                                  strlen("include")) == 0;
        hone_buf_add(v->buf, is_include ? "\n" : at, is_include ? 1 : len);
        at += len;
    }
    v->done = end > v->done ? end : v->done;
}

static void skip_to(struct hone_cu_view *v, size_t i)
{
    v->done = i < v->t.n ? v->t.v[i].at : v->t.source + strlen(v->t.source);
}

static void put(struct hone_cu_view *v, size_t first, size_t end);

/* Tokens first..end alone, whatever stands around them. */
void hone_cu_put_part(struct hone_cu_view *v, size_t first, size_t end)
{
    skip_to(v, first);
    put(v, first, end);
}

static void put_launch(struct hone_cu_view *v, size_t i, struct hone_cu_range config, size_t open,
                       size_t close)
{
    struct hone_cu_range parts[HONE_CU_ARGUMENTS];
    const char *name = hone_cu_word(v, i);
    size_t n = hone_cu_split(v, config.first, config.end, parts);
    hone_buf_printf(v->buf, "(hone_set_%s_(", name);
    hone_cu_put_part(v, open + 1, close);
    hone_buf_str(v->buf, "), hone_run_(HONE_DIM_(");
    hone_cu_put_part(v, parts[0].first, parts[0].end);
    hone_buf_str(v->buf, "), HONE_DIM_(");
    if (n > 1)
        hone_cu_put_part(v, parts[1].first, parts[1].end);
    hone_buf_printf(v->buf, "), hone_body_%s_))", name);
}

/* What keeps a kernel's arguments and calls it. */
static void put_thunk(struct hone_cu_view *v, const struct hone_c_definition *d)
{
    struct hone_cu_range params[HONE_CU_ARGUMENTS];
    size_t n = hone_cu_split(v, d->open + 1, d->close, params);
    const char *name = hone_cu_word(v, d->name);
    hone_buf_printf(v->buf, " static struct hone_args_%s_ {", name);
    for (size_t i = 0; i < n; i++) {
        hone_buf_str(v->buf, " ");
        hone_cu_put_part(v, params[i].first, params[i].end);
        hone_buf_str(v->buf, ";");
    }
    hone_buf_printf(v->buf, " } hone_args_%s_; static void hone_body_%s_(void) { %s(", name, name,
                    name);
    for (size_t i = 0; i < n; i++)
        hone_buf_printf(v->buf, "%shone_args_%s_.%s", i ? ", " : "", name,
                        hone_cu_word(v, hone_cu_param_name(v, params[i])));
    hone_buf_printf(v->buf, "); } static void hone_set_%s_(", name);
    hone_cu_put_part(v, d->open + 1, d->close);
    hone_buf_printf(v->buf, ") { memcpy((void *)&hone_args_%s_, &(struct hone_args_%s_){", name,
                    name);
    for (size_t i = 0; i < n; i++)
        hone_buf_printf(v->buf, "%s%s", i ? ", " : "",
                        hone_cu_word(v, hone_cu_param_name(v, params[i])));
    hone_buf_printf(v->buf, "}, sizeof(hone_args_%s_)); }", name);
}

static const char *const integer_words[] = {"int",      "unsigned", "long",     "size_t", "int32_t",
                                            "uint32_t", "int64_t",  "uint64_t", "short",  NULL};

/* constexpr int N = 16; and const int N = 16; outside functions: array sizes in C. */
static size_t put_constant(struct hone_cu_view *v, size_t i, bool is_outside)
{
    size_t at = i;
    bool is_constexpr = false, is_const = false;
    for (; hone_cu_is(v, at, "static") || hone_cu_is(v, at, "const") ||
           hone_cu_is(v, at, "constexpr");
         at++) {
        is_constexpr = is_constexpr || hone_cu_is(v, at, "constexpr");
        is_const = is_const || hone_cu_is(v, at, "const");
    }
    if (!is_constexpr && !(is_const && is_outside))
        return i;
    bool is_integer = hone_cu_is_listed(v, at, integer_words);
    while (hone_cu_is_listed(v, at, integer_words))
        at++;
    if (is_integer && hone_cu_is(v, at + 1, "=")) {
        size_t end = at;
        while (end < v->t.n && !hone_cu_is(v, end, ";"))
            end++;
        hone_buf_printf(v->buf, "enum { %s = (", hone_cu_word(v, at));
        hone_cu_put_part(v, at + 2, end);
        hone_buf_str(v->buf, ") }");
        skip_to(v, end);
        return end;
    }
    return i;
}

/* The token behind what was put for those from i on; i: nothing special is there. */
static size_t put_special(struct hone_cu_view *v, size_t i)
{
    static const char *const dropped[] = {"__global__",      "__device__",   "__host__",
                                          "__forceinline__", "__noinline__", "__constant__",
                                          "inline",          "__inline__",   NULL};
    static const char *const casts[] = {"static_cast", "reinterpret_cast", "const_cast", NULL};
    static const char *const values[] = {"float",    "double",  "int",     "unsigned", "bool",
                                         "size_t",   "int64_t", "int32_t", "long",     "__half",
                                         "uint32_t", "half",    NULL};
    size_t end = i + 1;
    if (hone_cu_is_listed(v, i, dropped) || hone_cu_is(v, i, "__launch_bounds__")) {
        end = hone_cu_is(v, i, "__launch_bounds__") ? hone_c_closing(&v->t, i + 1) + 1 : i + 1;
    } else if (hone_cu_is(v, i, "constexpr") && i > 0 && hone_cu_is(v, i - 1, "if")) {
        end = i + 1;
    } else if (hone_cu_is(v, i, "auto") || hone_cu_is(v, i, "nullptr")) {
        hone_buf_str(v->buf, hone_cu_is(v, i, "auto") ? "__auto_type" : "NULL");
        v->done = v->t.v[i].at + v->t.v[i].len;
        return end;
    } else if (hone_cu_is(v, i, "extern") && hone_cu_is(v, i + 1, "__shared__")) {
        size_t at = i + 2;
        at = hone_cu_is(v, at, "__align__") ? hone_c_closing(&v->t, at + 1) + 1 : at;
        for (end = at; end < v->t.n && !hone_cu_is(v, end, "["); end++)
            continue;
        const char *type = hone_cu_text(v, at, end - 1);
        hone_buf_printf(v->buf, "%s *%s = (%s *)hone_dynamic_", type, hone_cu_word(v, end - 1),
                        type);
        end = hone_c_closing(&v->t, end) + 1;
    } else if (hone_cu_is(v, i, "__shared__")) {
        hone_buf_str(v->buf, "static _Thread_local ");
    } else if (hone_cu_is_listed(v, i, casts)) {
        for (end = i + 2; end < v->t.n && !hone_cu_is(v, end, ">"); end++)
            continue;
        size_t close = hone_c_closing(&v->t, end + 1);
        hone_buf_str(v->buf, "((");
        hone_cu_put_part(v, i + 2, end);
        hone_buf_str(v->buf, ")(");
        hone_cu_put_part(v, end + 2, close);
        hone_buf_str(v->buf, "))");
        end = close + 1;
    } else if (hone_cu_is(v, i, "struct") && hone_cu_is(v, i + 2, "{") &&
               !(i > 0 && hone_cu_is(v, i - 1, "typedef"))) { /* C++ has the name as a type */
        const char *name = hone_cu_word(v, i + 1);
        hone_buf_printf(v->buf, "typedef struct %s %s; struct ", name, name);
    } else if (hone_cu_is_listed(v, i, values) && hone_cu_is(v, i + 1, "(") &&
               !hone_cu_is(v, i + 2, "*")) {
        end = hone_c_closing(&v->t, i + 1);
        hone_buf_printf(v->buf, "((%s)(", hone_cu_word(v, i));
        hone_cu_put_part(v, i + 2, end++);
        hone_buf_str(v->buf, "))");
    } else {
        return i;
    }
    skip_to(v, end);
    if (end < v->t.n && v->done > v->t.source) /* the gap in front of the next token stays */
        v->done = v->t.v[end - 1].at + v->t.v[end - 1].len;
    return end;
}

/* dim3(a, b) and dim3 g(a, b), h(c) */
static size_t put_dim3(struct hone_cu_view *v, size_t i)
{
    size_t at = i + 1;
    bool is_first = true;
    if (hone_cu_is(v, at, "(")) {
        hone_buf_str(v->buf, "HONE_DIM3_");
        v->done = v->t.v[at].at;
        return at;
    }
    while (at + 1 < v->t.n && hone_c_is_word(&v->t.v[at]) && hone_cu_is(v, at + 1, "(")) {
        size_t close = hone_c_closing(&v->t, at + 1);
        hone_buf_printf(v->buf, "%s%s = HONE_DIM3_(", is_first ? "dim3 " : ", ",
                        hone_cu_word(v, at));
        hone_cu_put_part(v, at + 2, close);
        hone_buf_str(v->buf, ")");
        v->done = v->t.v[close].at + 1;
        is_first = false;
        at = close + 1;
        if (!hone_cu_is(v, at, ","))
            return at;
        at++;
    }
    return i;
}

static void put(struct hone_cu_view *v, size_t first, size_t end)
{
    struct hone_cu_range config;
    size_t open, k = 0;
    for (size_t i = first; i < end;) {
        while (k < v->n && i > v->d[k].end)
            k++;
        bool is_outside = k == v->n || i < v->d[k].first;
        put_gap(v, v->t.v[i].at);
        size_t next = v->is_plain ? hone_cu_put_plain(v, i) : i;
        if (next == i)
            next = put_constant(v, i, is_outside);
        if (next == i && hone_cu_is(v, i, "dim3"))
            next = put_dim3(v, i);
        if (next == i)
            next = put_special(v, i);
        if (next == i && hone_cu_is_launch(v, i, &config, &open)) {
            size_t close = hone_c_closing(&v->t, open);
            put_launch(v, i, config, open, close);
            v->done = v->t.v[close].at + 1;
            next = close + 1;
        }
        if (next == i) {
            hone_buf_add(v->buf, v->t.v[i].at, v->t.v[i].len);
            v->done = v->t.v[i].at + v->t.v[i].len;
            next = i + 1;
            const struct hone_c_definition *d = k < v->n ? &v->d[k] : NULL;
            if (d && i == d->end && hone_cu_is_kernel(v, k) && !v->is_plain) {
                const char *done = v->done;
                put_thunk(v, d);
                v->done = done;
            }
        }
        i = next;
    }
}

/* The launcher's stream becomes a variable: hone's order has none on the CPU. */
void hone_cu_put_all(struct hone_cu_view *v, struct hone_cuda_in *in)
{
    const struct hone_c_definition *d = &v->d[v->launcher];
    struct hone_cu_range params[HONE_CU_ARGUMENTS];
    size_t n = hone_cu_split(v, d->open + 1, d->close, params);
    struct hone_cu_range last = n ? params[n - 1] : (struct hone_cu_range){0, 0};
    v->done = v->t.source;
    in->has_stream = n > 1 && hone_cu_is(v, last.first, "cudaStream_t");
    if (in->has_stream) {
        put(v, 0, last.first - 1);
        hone_buf_printf(v->buf, ")\n{ cudaStream_t %s = 0; (void)%s;",
                        hone_cu_word(v, hone_cu_param_name(v, last)),
                        hone_cu_word(v, hone_cu_param_name(v, last)));
        v->done = v->t.v[d->close + 1].at + 1;
        put(v, d->close + 2, v->t.n);
    } else {
        put(v, 0, v->t.n);
    }
    put_gap(v, v->t.source + strlen(v->t.source));
}
