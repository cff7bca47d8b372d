/* SPDX-License-Identifier: Apache-2.0 */
/* A CUDA file as C, token by token (cuda_in.h).
 *
 * Flow: `extern "C" {` goes; the launcher is found, or written for a kernel; words that have no
 * meaning in C are refused; then the text is copied with launches, casts, dim3 and qualifiers
 * replaced. Behind each kernel stands a function that keeps its arguments, and one that calls it
 * with them. What is overlooked does not compile, and the lint says so. */
#include "tools/task/cuda_in.h"

#include <string.h>

#include "tools/task/c_tokens.h"

enum { MAX_DEFINITIONS = 512, MAX_ARGUMENTS = 64 };

struct view {
    struct hone_pool *pool;
    struct hone_err *err;
    const struct hone_cuda_in_options *options;
    struct hone_c_tokens t;
    struct hone_c_definition d[MAX_DEFINITIONS];
    size_t n;
    size_t launcher;
    struct hone_buf *buf;
    const char *done; /* text up to here is in buf */
};

struct range {
    size_t first, end; /* tokens */
};

bool hone_cuda_in_is(const char *path)
{
    size_t n = strlen(path);
    return n > 3 && strcmp(path + n - 3, ".cu") == 0;
}

static bool is(const struct view *v, size_t i, const char *text)
{
    return i < v->t.n && hone_c_is(&v->t.v[i], text);
}

static const char *word(const struct view *v, size_t i)
{
    return hone_pool_strndup(v->pool, v->t.v[i].at, v->t.v[i].len);
}

static int line_of(const struct view *v, size_t i)
{
    return hone_c_line_at(v->t.source, v->t.v[i].at);
}

static bool has_word(const struct view *v, size_t first, size_t end, const char *text)
{
    for (size_t i = first; i < end && i < v->t.n; i++)
        if (hone_c_is(&v->t.v[i], text))
            return true;
    return false;
}

/* WORD <<< ... >>> ( ... ): ret is the configuration; *args the ( */
static bool is_launch(const struct view *v, size_t i, struct range *ret, size_t *args)
{
    if (i + 4 >= v->t.n || !hone_c_is_word(&v->t.v[i]) || strncmp(v->t.v[i + 1].at, "<<<", 3) != 0)
        return false;
    int depth = 0;
    for (size_t k = i + 4; k + 3 < v->t.n; k++) {
        depth += is(v, k, "(") - is(v, k, ")");
        if (depth == 0 && is(v, k, ">") && strncmp(v->t.v[k].at, ">>>", 3) == 0) {
            *ret = (struct range){i + 4, k};
            *args = k + 3;
            return is(v, *args, "(");
        }
    }
    return false;
}

/* first..end at commas outside brackets; the number of parts. */
static size_t split(const struct view *v, size_t first, size_t end, struct range ret[MAX_ARGUMENTS])
{
    size_t n = 0, start = first;
    int depth = 0;
    for (size_t i = first; i <= end && n < MAX_ARGUMENTS; i++) {
        if (i < end)
            depth += (is(v, i, "(") || is(v, i, "[") || is(v, i, "{")) -
                     (is(v, i, ")") || is(v, i, "]") || is(v, i, "}"));
        if (i == end ? i > first : depth == 0 && is(v, i, ",")) {
            ret[n++] = (struct range){start, i};
            start = i + 1;
        }
    }
    return n;
}

/* The text without `extern "C" {` and its }; lines stay. */
static int read_flat(struct view *v, const char *source)
{
    int code = hone_c_tokens_read(source, v->pool, &v->t, v->err);
    if (code < 0)
        return code;
    char *flat = hone_pool_strdup(v->pool, source);
    for (size_t i = 0; i + 2 < v->t.n; i++) {
        if (!is(v, i, "extern") || !is(v, i + 1, "\"C\""))
            continue;
        size_t end = is(v, i + 2, "{") ? hone_c_closing(&v->t, i + 2) : v->t.n;
        memset(flat + (v->t.v[i].at - source), ' ', v->t.v[i].len);
        memset(flat + (v->t.v[i + 1].at - source), ' ', v->t.v[i + 1].len);
        if (end < v->t.n)
            flat[v->t.v[i + 2].at - source] = flat[v->t.v[end].at - source] = ' ';
    }
    v->n = 0;
    code = hone_c_tokens_read(flat, v->pool, &v->t, v->err);
    for (size_t at = 0; code == 0 && hone_c_next_definition(&v->t, &at, &v->d[v->n]);)
        if (v->d[v->n].end >= v->t.n || ++v->n == MAX_DEFINITIONS)
            code = hone_fail(v->err, HONE_E_LIMIT, "a function without an end, or more than %d",
                             MAX_DEFINITIONS - 1);
    return code;
}

static bool is_kernel(const struct view *v, size_t k)
{
    return has_word(v, v->d[k].first, v->d[k].name, "__global__");
}

static bool is_on_device(const struct view *v, size_t k)
{
    return is_kernel(v, k) || has_word(v, v->d[k].first, v->d[k].name, "__device__");
}

static bool has_launch(const struct view *v, size_t k)
{
    struct range config;
    size_t args;
    for (size_t i = v->d[k].close; i < v->d[k].end; i++)
        if (is_launch(v, i, &config, &args))
            return true;
    return false;
}

/* The function asked for, else the only one that launches, else the only kernel. */
static int choose(struct view *v)
{
    const char *known = "";
    size_t n_found = 0;
    for (int pass = 0; pass < 2 && n_found == 0; pass++) {
        for (size_t k = 0; k < v->n; k++) {
            const char *name = word(v, v->d[k].name);
            bool fits = v->options->function ? strcmp(name, v->options->function) == 0
                        : pass == 0
                            ? !is_on_device(v, k) && has_launch(v, k) && strcmp(name, "main") != 0
                            : is_kernel(v, k);
            if (pass == 0 && (is_kernel(v, k) || has_launch(v, k)))
                known = hone_pool_printf(v->pool, "%s%s%s", known, *known ? ", " : "", name);
            if (fits) {
                v->launcher = k;
                n_found++;
            }
        }
    }
    if (n_found == 1)
        return 0;
    return hone_fail(v->err, n_found ? HONE_E_ARG : HONE_E_NOT_FOUND,
                     n_found ? "several functions launch kernels: name one with --function (%.200s)"
                             : "no such function; kernels and launchers are: %.200s",
                     *known ? known : "none");
}

/* ---- what cannot be read ---- */

static int refuse_words(const struct view *v)
{
    static const char flatten[] = "write it out for the types and sizes that count, or give the "
                                  "reference with --reference FILE.c";
    static const struct {
        const char *word, *what, *advice;
        bool always; /* with a reference too */
    } rows[] = {
        {"texture", "textures", "pass the array as const float * and read it by index", true},
        {"cudaTextureObject_t", "textures", "pass the array as const float * and read it by index",
         true},
        {"torch", "PyTorch's headers",
         "keep the kernel and a launcher that takes data pointers and sizes as numbers", true},
        {"PYBIND11_MODULE", "Python bindings",
         "keep the kernel and a launcher that takes data pointers and sizes as numbers", true},
        {"template", "a template", flatten, false},
        {"class", "C++ classes", flatten, false},
        {"namespace", "C++ namespaces", flatten, false},
        {"operator", "operators of your own", flatten, false},
        {"asm", "inline assembler", flatten, false},
        {"thrust", "thrust", flatten, false},
        {"cub", "CUB", flatten, false},
        {"cooperative_groups", "cooperative groups", flatten, false},
        {"wmma", "tensor core fragments", flatten, false},
        {"__half2", "pairs of halves", flatten, false},
        {"__float_as_int", "a float's bits", flatten, false},
        {"__float_as_uint", "a float's bits", flatten, false},
        {"__int_as_float", "a float's bits", flatten, false},
        {"__uint_as_float", "a float's bits", flatten, false},
        {"cudaMemcpyToSymbol", "constant memory that is set", flatten, false},
    };
    for (size_t i = 0; i < v->t.n; i++)
        for (size_t k = 0; k < HONE_COUNTOF(rows); k++)
            if (is(v, i, rows[k].word) && (rows[k].always || !v->options->has_reference))
                return hone_fail(v->err, HONE_E_ARG, "line %d: '%s' (%s) is not read: %s",
                                 line_of(v, i), rows[k].word, rows[k].what, rows[k].advice);
    return 0;
}

/* Directives: comments and strings that look like one are refused with them. */
static int refuse_headers(const struct view *v)
{
    for (const char *at = strstr(v->t.source, "#include"); at; at = strstr(at + 1, "#include")) {
        const char *name = at + strlen("#include");
        name += strspn(name, " \t");
        int line = hone_c_line_at(v->t.source, at);
        if (*name == '"')
            return hone_fail(v->err, HONE_E_ARG,
                             "line %d: the file includes %.80s: put that text into the file", line,
                             hone_pool_strndup(v->pool, name, strcspn(name, "\n")));
        if (strncmp(name, "<torch", 6) == 0 || strncmp(name, "<ATen", 5) == 0)
            return hone_fail(v->err, HONE_E_ARG,
                             "line %d: PyTorch's headers are not read: keep the kernel and a "
                             "launcher that takes data pointers and sizes as numbers",
                             line);
    }
    return 0;
}

static int refuse(const struct view *v)
{
    struct range config;
    size_t args;
    int code = refuse_headers(v);
    if (code == 0)
        code = refuse_words(v);
    for (size_t k = 0; code == 0 && k < v->n; k++)
        for (size_t i = v->d[k].close; i < v->d[k].end; i++)
            if (is_on_device(v, k) && is_launch(v, i, &config, &args))
                return hone_fail(v->err, HONE_E_ARG,
                                 "line %d: a kernel launches a kernel (dynamic parallelism): "
                                 "launch '%s' from the host function",
                                 line_of(v, i), word(v, i));
    return code;
}

/* ---- a launcher for a kernel ---- */

static const char *text_of(const struct view *v, size_t first, size_t end)
{
    if (first >= end)
        return "";
    const char *from = v->t.v[first].at, *to = v->t.v[end - 1].at + v->t.v[end - 1].len;
    return hone_pool_strndup(v->pool, from, (size_t)(to - from));
}

static size_t name_of_param(const struct view *v, struct range p)
{
    size_t at = p.first;
    for (size_t i = p.first; i < p.end && !is(v, i, "["); i++)
        if (hone_c_is_word(&v->t.v[i]))
            at = i;
    return at;
}

/* The value that function k gives variable `name`: "dim3 b(16, 16)", "int n = (m + 1) / 2". */
static const char *value_of(const struct view *v, size_t k, size_t name)
{
    for (size_t i = v->d[k].close + 2; i < name; i++) {
        if (v->t.v[i].len != v->t.v[name].len || !is(v, i, word(v, name)) ||
            !hone_c_is_word(&v->t.v[i - 1]))
            continue;
        size_t end = i;
        while (end < name && !is(v, end, ";"))
            end++;
        if (is(v, i + 1, "(") && is(v, i - 1, "dim3"))
            return text_of(v, i + 2, hone_c_closing(&v->t, i + 1));
        if (is(v, i + 1, "="))
            return hone_pool_printf(v->pool, "(%s)", text_of(v, i + 2, end));
    }
    return NULL;
}

/* The words of a configuration as the kernel's own; NULL: one is not known. */
static const char *resolve(const struct view *v, size_t k, struct range r,
                           const struct range *params, const struct range *args, size_t n)
{
    const char *text = "";
    for (size_t i = r.first; i < r.end; i++) {
        const char *now = word(v, i), *value = NULL;
        if (hone_c_is_word(&v->t.v[i]) && !is(v, i, "dim3")) {
            for (size_t a = 0; a < n; a++)
                if (args[a].end == args[a].first + 1 && is(v, args[a].first, now))
                    value = word(v, name_of_param(v, params[a]));
            if (!value)
                value = value_of(v, k, i);
            if (!value && hone_prototype_define(v->t.source, now, v->pool))
                value = now;
            if (!value)
                return NULL;
            now = value;
        }
        text = hone_pool_printf(v->pool, "%s%s", text, now);
    }
    return text;
}

static int find_launch(const struct view *v, const struct range *params, size_t n,
                       const char **grid, const char **block)
{
    struct range config, parts[MAX_ARGUMENTS], args[MAX_ARGUMENTS];
    const char *kernel = word(v, v->d[v->launcher].name);
    size_t open;
    for (size_t k = 0; k < v->n; k++)
        for (size_t i = v->d[k].close; i < v->d[k].end; i++) {
            if (!is(v, i, kernel) || !is_launch(v, i, &config, &open) ||
                split(v, open + 1, hone_c_closing(&v->t, open), args) != n ||
                split(v, config.first, config.end, parts) < 2)
                continue;
            *grid = *grid ? *grid : resolve(v, k, parts[0], params, args, n);
            *block = *block ? *block : resolve(v, k, parts[1], params, args, n);
        }
    return *grid && *block
               ? 0
               : hone_fail(v->err, HONE_E_ARG,
                           "line %d: '%s' is a kernel, and no launch of it says its grid in terms "
                           "of its parameters: give --grid '(n + 255) / 256' --block 256 (C "
                           "expressions, up to three by comma)",
                           line_of(v, v->d[v->launcher].name), kernel);
}

/* The source with a launcher behind it. */
static int add_launcher(struct view *v, const char **source, const char **name)
{
    const struct hone_c_definition *d = &v->d[v->launcher];
    struct range params[MAX_ARGUMENTS];
    size_t n = split(v, d->open + 1, d->close, params);
    const char *grid = v->options->grid, *block = v->options->block, *names = "";
    int code = find_launch(v, params, n, &grid, &block);
    if (code < 0)
        return code;
    for (size_t i = 0; i < n; i++)
        names = hone_pool_printf(v->pool, "%s%s%s", names, i ? ", " : "",
                                 word(v, name_of_param(v, params[i])));
    *name = hone_pool_printf(v->pool, "%s_launch", word(v, d->name));
    *source = hone_pool_printf(v->pool,
                               "%s\n\nvoid %s(%s, cudaStream_t stream)\n{\n"
                               "    %s<<<dim3(%s), dim3(%s), 0, stream>>>(%s);\n}\n",
                               *source, *name, text_of(v, d->open + 1, d->close), word(v, d->name),
                               grid, block, names);
    return 0;
}

/* ---- C ---- */

/* Text between tokens, without includes: the head has them. */
static void put_gap(struct view *v, const char *end)
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

static void skip_to(struct view *v, size_t i)
{
    v->done = i < v->t.n ? v->t.v[i].at : v->t.source + strlen(v->t.source);
}

static void put(struct view *v, size_t first, size_t end);

/* Tokens first..end alone, whatever stands around them. */
static void put_part(struct view *v, size_t first, size_t end)
{
    skip_to(v, first);
    put(v, first, end);
}

static void put_launch(struct view *v, size_t i, struct range config, size_t open, size_t close)
{
    struct range parts[MAX_ARGUMENTS];
    const char *name = word(v, i);
    size_t n = split(v, config.first, config.end, parts);
    hone_buf_printf(v->buf, "(hone_set_%s_(", name);
    put_part(v, open + 1, close);
    hone_buf_str(v->buf, "), hone_run_(HONE_DIM_(");
    put_part(v, parts[0].first, parts[0].end);
    hone_buf_str(v->buf, "), HONE_DIM_(");
    if (n > 1)
        put_part(v, parts[1].first, parts[1].end);
    hone_buf_printf(v->buf, "), hone_body_%s_))", name);
}

/* What keeps a kernel's arguments and calls it. */
static void put_thunk(struct view *v, const struct hone_c_definition *d)
{
    struct range params[MAX_ARGUMENTS];
    size_t n = split(v, d->open + 1, d->close, params);
    const char *name = word(v, d->name);
    hone_buf_printf(v->buf, " static _Thread_local struct hone_args_%s_ {", name);
    for (size_t i = 0; i < n; i++) {
        hone_buf_str(v->buf, " ");
        put_part(v, params[i].first, params[i].end);
        hone_buf_str(v->buf, ";");
    }
    hone_buf_printf(v->buf, " } hone_args_%s_; static void hone_body_%s_(void) { %s(", name, name,
                    name);
    for (size_t i = 0; i < n; i++)
        hone_buf_printf(v->buf, "%shone_args_%s_.%s", i ? ", " : "", name,
                        word(v, name_of_param(v, params[i])));
    hone_buf_printf(v->buf, "); } static void hone_set_%s_(", name);
    put_part(v, d->open + 1, d->close);
    hone_buf_printf(v->buf, ") { memcpy((void *)&hone_args_%s_, &(struct hone_args_%s_){", name,
                    name);
    for (size_t i = 0; i < n; i++)
        hone_buf_printf(v->buf, "%s%s", i ? ", " : "", word(v, name_of_param(v, params[i])));
    hone_buf_printf(v->buf, "}, sizeof(hone_args_%s_)); }", name);
}

static bool is_listed(const struct view *v, size_t i, const char *const *words)
{
    for (; *words; words++)
        if (is(v, i, *words))
            return true;
    return false;
}

static const char *const integer_words[] = {"int",      "unsigned", "long",     "size_t", "int32_t",
                                            "uint32_t", "int64_t",  "uint64_t", "short",  NULL};

/* constexpr int N = 16; and const int N = 16; outside functions: array sizes in C. */
static size_t put_constant(struct view *v, size_t i, bool is_outside)
{
    size_t at = i;
    bool is_constexpr = false, is_const = false;
    for (; is(v, at, "static") || is(v, at, "const") || is(v, at, "constexpr"); at++) {
        is_constexpr = is_constexpr || is(v, at, "constexpr");
        is_const = is_const || is(v, at, "const");
    }
    if (!is_constexpr && !(is_const && is_outside))
        return i;
    bool is_integer = is_listed(v, at, integer_words);
    while (is_listed(v, at, integer_words))
        at++;
    if (is_integer && is(v, at + 1, "=")) {
        size_t end = at;
        while (end < v->t.n && !is(v, end, ";"))
            end++;
        hone_buf_printf(v->buf, "enum { %s = (", word(v, at));
        put_part(v, at + 2, end);
        hone_buf_str(v->buf, ") }");
        skip_to(v, end);
        return end;
    }
    return i;
}

/* The token behind what was put for those from i on; i: nothing special is there. */
static size_t put_special(struct view *v, size_t i)
{
    static const char *const dropped[] = {"__global__",      "__device__",   "__host__",
                                          "__forceinline__", "__noinline__", "__constant__",
                                          "inline",          "__inline__",   NULL};
    static const char *const casts[] = {"static_cast", "reinterpret_cast", "const_cast", NULL};
    static const char *const values[] = {"float",    "double",  "int",     "unsigned", "bool",
                                         "size_t",   "int64_t", "int32_t", "long",     "__half",
                                         "uint32_t", "half",    NULL};
    size_t end = i + 1;
    if (is_listed(v, i, dropped) || is(v, i, "__launch_bounds__")) {
        end = is(v, i, "__launch_bounds__") ? hone_c_closing(&v->t, i + 1) + 1 : i + 1;
    } else if (is(v, i, "auto") || is(v, i, "nullptr")) {
        hone_buf_str(v->buf, is(v, i, "auto") ? "__auto_type" : "NULL");
        v->done = v->t.v[i].at + v->t.v[i].len;
        return end;
    } else if (is(v, i, "extern") && is(v, i + 1, "__shared__")) {
        size_t at = i + 2;
        at = is(v, at, "__align__") ? hone_c_closing(&v->t, at + 1) + 1 : at;
        for (end = at; end < v->t.n && !is(v, end, "["); end++)
            continue;
        const char *type = text_of(v, at, end - 1);
        hone_buf_printf(v->buf, "%s *%s = (%s *)hone_dynamic_", type, word(v, end - 1), type);
        end = hone_c_closing(&v->t, end) + 1;
    } else if (is(v, i, "__shared__")) {
        hone_buf_str(v->buf, "static _Thread_local ");
    } else if (is_listed(v, i, casts)) {
        for (end = i + 2; end < v->t.n && !is(v, end, ">"); end++)
            continue;
        size_t close = hone_c_closing(&v->t, end + 1);
        hone_buf_str(v->buf, "((");
        put_part(v, i + 2, end);
        hone_buf_str(v->buf, ")(");
        put_part(v, end + 2, close);
        hone_buf_str(v->buf, "))");
        end = close + 1;
    } else if (is_listed(v, i, values) && is(v, i + 1, "(") && !is(v, i + 2, "*")) {
        end = hone_c_closing(&v->t, i + 1);
        hone_buf_printf(v->buf, "((%s)(", word(v, i));
        put_part(v, i + 2, end++);
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
static size_t put_dim3(struct view *v, size_t i)
{
    size_t at = i + 1;
    bool is_first = true;
    if (is(v, at, "(")) {
        hone_buf_str(v->buf, "HONE_DIM3_");
        v->done = v->t.v[at].at;
        return at;
    }
    while (at + 1 < v->t.n && hone_c_is_word(&v->t.v[at]) && is(v, at + 1, "(")) {
        size_t close = hone_c_closing(&v->t, at + 1);
        hone_buf_printf(v->buf, "%s%s = HONE_DIM3_(", is_first ? "dim3 " : ", ", word(v, at));
        put_part(v, at + 2, close);
        hone_buf_str(v->buf, ")");
        v->done = v->t.v[close].at + 1;
        is_first = false;
        at = close + 1;
        if (!is(v, at, ","))
            return at;
        at++;
    }
    return i;
}

static void put(struct view *v, size_t first, size_t end)
{
    struct range config;
    size_t open, k = 0;
    for (size_t i = first; i < end;) {
        while (k < v->n && i > v->d[k].end)
            k++;
        bool is_outside = k == v->n || i < v->d[k].first;
        put_gap(v, v->t.v[i].at);
        size_t next = put_constant(v, i, is_outside);
        if (next == i && is(v, i, "dim3"))
            next = put_dim3(v, i);
        if (next == i)
            next = put_special(v, i);
        if (next == i && is_launch(v, i, &config, &open)) {
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
            if (d && i == d->end && is_kernel(v, k)) {
                const char *done = v->done;
                put_thunk(v, d);
                v->done = done;
            }
        }
        i = next;
    }
}

/* The launcher's stream becomes a variable: hone's order has none on the CPU. */
static void put_all(struct view *v, struct hone_cuda_in *in)
{
    const struct hone_c_definition *d = &v->d[v->launcher];
    struct range params[MAX_ARGUMENTS];
    size_t n = split(v, d->open + 1, d->close, params);
    struct range last = n ? params[n - 1] : (struct range){0, 0};
    v->done = v->t.source;
    in->has_stream = n > 1 && is(v, last.first, "cudaStream_t");
    if (in->has_stream) {
        put(v, 0, last.first - 1);
        hone_buf_printf(v->buf, ")\n{ cudaStream_t %s = 0; (void)%s;",
                        word(v, name_of_param(v, last)), word(v, name_of_param(v, last)));
        v->done = v->t.v[d->close + 1].at + 1;
        put(v, d->close + 2, v->t.n);
    } else {
        put(v, 0, v->t.n);
    }
    put_gap(v, v->t.source + strlen(v->t.source));
}

int hone_cuda_in_read(const struct hone_cuda_in_options *options, struct hone_pool *pool,
                      struct hone_cuda_in *ret, struct hone_err *err)
{
    static const char *const barriers[] = {
        "__syncthreads",   "__syncwarp",          "__shfl_down_sync", "__shfl_up_sync",
        "__shfl_xor_sync", "__shfl_sync",         "__ballot_sync",    "__any_sync",
        "__all_sync",      "__syncthreads_count", "__syncthreads_or", NULL};
    HONE_CLEANUP(hone_buf_done) struct hone_buf buf = HONE_BUF_INIT;
    struct view *v = hone_pool_alloc(pool, sizeof(*v));
    struct hone_cuda_in in = {.cuda = options->source};
    v->pool = pool;
    v->err = err;
    v->options = options;
    v->buf = &buf;
    int code = read_flat(v, in.cuda);
    if (code == 0)
        code = refuse(v);
    if (code == 0)
        code = choose(v);
    if (code < 0)
        return code;
    in.name = in.function = word(v, v->d[v->launcher].name);
    if (is_on_device(v, v->launcher)) {
        struct hone_cuda_in_options again = *options;
        if ((code = add_launcher(v, &in.cuda, &in.function)) < 0)
            return code;
        again.function = in.function;
        v->options = &again;
        if ((code = read_flat(v, in.cuda)) < 0 || (code = choose(v)) < 0)
            return code;
    }
    in.is_static = v->d[v->launcher].is_static;
    for (size_t i = 0; i < v->t.n; i++)
        in.has_barriers = in.has_barriers || is_listed(v, i, barriers);
    put_all(v, &in);
    in.c = hone_pool_strdup(pool, buf.data ? buf.data : "");
    *ret = in;
    return 0;
}

/* ---- directions ---- */

/* Does body of kernel k hand NAME or &NAME[...] to an atomic operation? */
static bool is_atomic(const struct view *v, size_t k, const char *name)
{
    for (size_t i = v->d[k].close + 3; i < v->d[k].end; i++) {
        size_t open = is(v, i - 1, "&") ? i - 2 : i - 1;
        if (is(v, i, name) && is(v, open, "(") && v->t.v[open - 1].len > 6 &&
            strncmp(v->t.v[open - 1].at, "atomic", 6) == 0)
            return true;
    }
    return false;
}

static enum hone_access access_in_kernel(struct view *v, const char *c, size_t k, size_t param)
{
    struct hone_prototype *p = hone_pool_alloc(v->pool, sizeof(*p));
    const char *kernel = word(v, v->d[k].name);
    if (hone_prototype_parse(c, kernel, v->pool, p, NULL) < 0 || param >= p->n_params)
        return HONE_ACCESS_UNKNOWN;
    const char *name = p->params[param].name;
    enum hone_access access = hone_prototype_access(c, p, name, v->pool);
    return access == HONE_ACCESS_UNKNOWN && is_atomic(v, k, name) ? HONE_ACCESS_READ_FIRST : access;
}

/* The C text's launch at token i: hone_set_KERNEL_( ... */
static bool find_kernel(const struct view *v, size_t i, size_t *ret)
{
    for (size_t k = 0; k < v->n; k++)
        if (is(v, i, hone_pool_printf(v->pool, "hone_set_%s_", word(v, v->d[k].name)))) {
            *ret = k;
            return true;
        }
    return false;
}

enum hone_access hone_cuda_in_access(const struct hone_cuda_in *in, const char *name,
                                     struct hone_pool *pool)
{
    struct view *v = hone_pool_alloc(pool, sizeof(*v));
    struct range args[MAX_ARGUMENTS];
    enum hone_access found = HONE_ACCESS_NONE;
    size_t at = 0, k = 0;
    v->pool = pool;
    if (read_flat(v, in->c) < 0)
        return HONE_ACCESS_UNKNOWN;
    while (at < v->n && !is(v, v->d[at].name, in->function))
        at++;
    for (size_t i = at < v->n ? v->d[at].close : v->t.n; at < v->n && i < v->d[at].end; i++) {
        bool is_fill = is(v, i, "cudaMemset") || is(v, i, "cudaMemsetAsync");
        bool is_set = find_kernel(v, i, &k);
        size_t n = is_fill || is_set ? split(v, i + 2, hone_c_closing(&v->t, i + 1), args) : 0;
        for (size_t a = 0; a < n && (a == 0 || is_set); a++) {
            if (!has_word(v, args[a].first, args[a].end, name))
                continue;
            enum hone_access now =
                is_fill ? HONE_ACCESS_WRITE_FIRST : access_in_kernel(v, in->c, k, a);
            if (found == HONE_ACCESS_NONE || found == HONE_ACCESS_UNKNOWN)
                found = now;
            else if (found == HONE_ACCESS_READ && now != HONE_ACCESS_READ &&
                     now != HONE_ACCESS_NONE)
                found = HONE_ACCESS_READ_FIRST;
        }
    }
    return found == HONE_ACCESS_NONE ? HONE_ACCESS_UNKNOWN : found;
}
