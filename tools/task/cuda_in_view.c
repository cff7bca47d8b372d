/* SPDX-License-Identifier: Apache-2.0 */
/* A CUDA file as tokens: its functions, its launches, and what of it cannot be read. */
#include <string.h>

#include "tools/task/cuda_in_internal.h"
#include "workspace/base/limits.h"

bool hone_cu_is(const struct hone_cu_view *v, size_t i, const char *text)
{
    return i < v->t.n && hone_c_is(&v->t.v[i], text);
}

const char *hone_cu_word(const struct hone_cu_view *v, size_t i)
{
    return hone_pool_strndup(v->pool, v->t.v[i].at, v->t.v[i].len);
}

int hone_cu_line(const struct hone_cu_view *v, size_t i)
{
    return hone_c_line_at(v->t.source, v->t.v[i].at);
}

bool hone_cu_has_word(const struct hone_cu_view *v, size_t first, size_t end, const char *text)
{
    for (size_t i = first; i < end && i < v->t.n; i++)
        if (hone_c_is(&v->t.v[i], text))
            return true;
    return false;
}

bool hone_cu_is_launch(const struct hone_cu_view *v, size_t i, struct hone_cu_range *ret,
                       size_t *args)
{
    size_t mark = i + 1;
    int depth = 0;
    if (i + 4 >= v->t.n || !hone_c_is_word(&v->t.v[i]) || !hone_cu_is(v, mark, "<"))
        return false;
    if (strncmp(v->t.v[mark].at, "<<<", 3) != 0) /* template arguments */
        while (mark < v->t.n && !strchr(";{}()", *v->t.v[mark].at) && !hone_cu_is(v, mark++, ">"))
            continue;
    if (mark + 3 >= v->t.n || strncmp(v->t.v[mark].at, "<<<", 3) != 0)
        return false;
    for (size_t k = mark + 3; k + 3 < v->t.n; k++) {
        depth += hone_cu_is(v, k, "(") - hone_cu_is(v, k, ")");
        if (depth == 0 && hone_cu_is(v, k, ">") && strncmp(v->t.v[k].at, ">>>", 3) == 0) {
            *ret = (struct hone_cu_range){mark + 3, k};
            *args = k + 3;
            return hone_cu_is(v, *args, "(");
        }
    }
    return false;
}

/* first..end at commas outside brackets; the number of parts. */
size_t hone_cu_split(const struct hone_cu_view *v, size_t first, size_t end,
                     struct hone_cu_range ret[HONE_CU_ARGUMENTS])
{
    size_t n = 0, start = first;
    int depth = 0;
    for (size_t i = first; i <= end && n < HONE_CU_ARGUMENTS; i++) {
        if (i < end)
            depth += (hone_cu_is(v, i, "(") || hone_cu_is(v, i, "[") || hone_cu_is(v, i, "{")) -
                     (hone_cu_is(v, i, ")") || hone_cu_is(v, i, "]") || hone_cu_is(v, i, "}"));
        if (i == end ? i > first : depth == 0 && hone_cu_is(v, i, ",")) {
            ret[n++] = (struct hone_cu_range){start, i};
            start = i + 1;
        }
    }
    return n;
}

bool hone_cu_is_listed(const struct hone_cu_view *v, size_t i, const char *const *words)
{
    return i < v->t.n && hone_c_is_any(&v->t.v[i], words);
}

const char *hone_cu_text(const struct hone_cu_view *v, size_t first, size_t end)
{
    if (first >= end)
        return "";
    const char *from = v->t.v[first].at, *to = v->t.v[end - 1].at + v->t.v[end - 1].len;
    return hone_pool_strndup(v->pool, from, (size_t)(to - from));
}

size_t hone_cu_param_name(const struct hone_cu_view *v, struct hone_cu_range p)
{
    size_t at = p.first;
    for (size_t i = p.first; i < p.end && !hone_cu_is(v, i, "["); i++)
        if (hone_c_is_word(&v->t.v[i]))
            at = i;
    return at;
}

static int refuse_depth(const struct hone_cu_view *v)
{
    int depth = 0;
    for (size_t i = 0; i < v->t.n; i++) {
        char c = v->t.v[i].len == 1 ? *v->t.v[i].at : 'a';
        depth += (c == '(' || c == '[' || c == '{') - (c == ')' || c == ']' || c == '}');
        if (depth > HONE_LIMIT_CUDA_BRACKETS)
            return hone_fail(v->err, HONE_E_LIMIT, "line %d: more than %d brackets in brackets",
                             hone_cu_line(v, i), HONE_LIMIT_CUDA_BRACKETS);
    }
    return 0;
}

/* The text without `extern "C" {` and its }; lines stay. */
int hone_cu_read(struct hone_cu_view *v, const char *source)
{
    int code = hone_c_tokens_read(source, v->pool, &v->t, v->err);
    if (code == 0)
        code = refuse_depth(v);
    if (code < 0)
        return code;
    char *flat = hone_pool_strdup(v->pool, source);
    for (size_t i = 0; i + 2 < v->t.n; i++) {
        if (!hone_cu_is(v, i, "extern") || !hone_cu_is(v, i + 1, "\"C\""))
            continue;
        size_t end = hone_cu_is(v, i + 2, "{") ? hone_c_closing(&v->t, i + 2) : v->t.n;
        memset(flat + (v->t.v[i].at - source), ' ', v->t.v[i].len);
        memset(flat + (v->t.v[i + 1].at - source), ' ', v->t.v[i + 1].len);
        if (end < v->t.n)
            flat[v->t.v[i + 2].at - source] = flat[v->t.v[end].at - source] = ' ';
    }
    v->n = 0;
    code = hone_c_tokens_read(flat, v->pool, &v->t, v->err);
    for (size_t at = 0; code == 0 && hone_c_next_definition(&v->t, &at, &v->d[v->n]);)
        if (v->d[v->n].end >= v->t.n)
            code = hone_fail(v->err, HONE_E_ARG, "line %d: '%s' has no closing bracket",
                             hone_cu_line(v, v->d[v->n].name), hone_cu_word(v, v->d[v->n].name));
        else if (++v->n == HONE_CU_DEFINITIONS)
            code = hone_fail(v->err, HONE_E_LIMIT, "the file has more than %d functions",
                             HONE_CU_DEFINITIONS - 1);
    return code;
}

bool hone_cu_is_kernel(const struct hone_cu_view *v, size_t k)
{
    return hone_cu_has_word(v, v->d[k].first, v->d[k].name, "__global__");
}

bool hone_cu_is_on_device(const struct hone_cu_view *v, size_t k)
{
    return hone_cu_is_kernel(v, k) ||
           hone_cu_has_word(v, v->d[k].first, v->d[k].name, "__device__");
}

static bool has_launch(const struct hone_cu_view *v, size_t k)
{
    struct hone_cu_range config;
    size_t args;
    for (size_t i = v->d[k].close; i < v->d[k].end; i++)
        if (hone_cu_is_launch(v, i, &config, &args))
            return true;
    return false;
}

/* The function asked for, else the only one that launches, else the only kernel. */
int hone_cu_choose(struct hone_cu_view *v)
{
    const char *known = "";
    size_t n_found = 0;
    for (int pass = 0; pass < 2 && n_found == 0; pass++) {
        for (size_t k = 0; k < v->n; k++) {
            const char *name = hone_cu_word(v, v->d[k].name);
            bool fits = v->options->function ? strcmp(name, v->options->function) == 0
                        : pass == 0          ? !hone_cu_is_on_device(v, k) && has_launch(v, k) &&
                                          strcmp(name, "main") != 0
                                    : hone_cu_is_kernel(v, k);
            if (pass == 0 && (hone_cu_is_kernel(v, k) || has_launch(v, k)))
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

static int refuse_words(const struct hone_cu_view *v)
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
            if (hone_cu_is(v, i, rows[k].word) && (rows[k].always || !v->options->has_reference))
                return hone_fail(v->err, HONE_E_ARG, "line %d: '%s' (%s) is not read: %s",
                                 hone_cu_line(v, i), rows[k].word, rows[k].what, rows[k].advice);
    return 0;
}

/* Directives: comments and strings that look like one are refused with them. */
static int refuse_headers(const struct hone_cu_view *v)
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

/* A launch says its grid and its block. */
static int refuse_launches(const struct hone_cu_view *v)
{
    struct hone_cu_range config, parts[HONE_CU_ARGUMENTS];
    size_t args;
    for (size_t i = 0; i < v->t.n; i++)
        if (hone_cu_is_launch(v, i, &config, &args) &&
            hone_cu_split(v, config.first, config.end, parts) < 2)
            return hone_fail(v->err, HONE_E_ARG,
                             "line %d: the launch of '%s' says no grid and block: write "
                             "%s<<<grid, block>>>(...)",
                             hone_cu_line(v, i), hone_cu_word(v, i), hone_cu_word(v, i));
    return 0;
}

static bool is_in_text(const char *text, const char *word)
{
    static const char more[] = "0123456789_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    size_t len = strlen(word);
    for (const char *at = strstr(text, word); at; at = strstr(at + len, word))
        if (strspn(at + len, more) == 0 && !(at > text && strchr(more, at[-1])))
            return true;
    return false;
}

/* CUDA's functions that the reference has no text for: its linker would not know their lines. */
static int refuse_calls(const struct hone_cu_view *v)
{
    static const char *const fronts[] = {"cuda", "__", "atomic", "make_", "cublas", "curand"};
    static const char *const attributes[] = {"__launch_bounds__", "__align__", "__attribute__",
                                             NULL};
    for (size_t i = 0; !v->options->has_reference && i < v->t.n; i++) {
        const char *word = hone_cu_is(v, i + 1, "(") ? hone_cu_word(v, i) : "";
        size_t front = 0, k = 0;
        while (front < HONE_COUNTOF(fronts) &&
               strncmp(word, fronts[front], strlen(fronts[front])) != 0)
            front++;
        while (k < v->n && !hone_cu_is(v, v->d[k].name, word))
            k++;
        if (front == HONE_COUNTOF(fronts) || k < v->n || hone_cu_is_listed(v, i, attributes) ||
            is_in_text(hone_cuda_in_head, word) || is_in_text(hone_cuda_in_calls, word) ||
            is_in_text(hone_cuda_in_words, word) || strncmp(word, "__builtin_", 10) == 0 ||
            is_in_text(v->t.source, hone_pool_printf(v->pool, "define %s", word)))
            continue;
        return hone_fail(v->err, HONE_E_ARG,
                         "line %d: '%s' is not read: write the file without it (launches go to "
                         "the launcher's last parameter, a cudaStream_t), or give the reference "
                         "with --reference FILE.c",
                         hone_cu_line(v, i), word);
    }
    return 0;
}

int hone_cu_refuse(const struct hone_cu_view *v)
{
    struct hone_cu_range config;
    size_t args;
    int code = refuse_headers(v);
    if (code == 0)
        code = refuse_words(v);
    if (code == 0)
        code = refuse_launches(v);
    if (code == 0)
        code = refuse_calls(v);
    for (size_t k = 0; code == 0 && k < v->n; k++)
        for (size_t i = v->d[k].close; i < v->d[k].end; i++)
            if (hone_cu_is_on_device(v, k) && hone_cu_is_launch(v, i, &config, &args))
                return hone_fail(v->err, HONE_E_ARG,
                                 "line %d: a kernel launches a kernel (dynamic parallelism): "
                                 "launch '%s' from the host function",
                                 hone_cu_line(v, i), hone_cu_word(v, i));
    return code;
}
