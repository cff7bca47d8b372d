/* SPDX-License-Identifier: Apache-2.0 */
/* Guesses which template instances a launcher will use (module_names.h): words of each launch
 * whose template arguments are constants, and tunables with their values. The recorder says
 * later what was really used; a wrong guess costs a second compile and nothing else. */
#include "tools/runner/cuda/module/module_names.h"

#include <ctype.h>
#include <string.h>

#include "workspace/base/limits.h"

struct guess {
    const struct hone_split *split;
    const struct hone_array *tunables;
    struct hone_pool *pool;
    struct hone_strs *out;
};

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

bool hone_names_equal(const char *a, const char *b)
{
    for (;; a++, b++) {
        a += strspn(a, " \t\n");
        b += strspn(b, " \t\n");
        if (*a != *b)
            return false;
        if (*a == '\0')
            return true;
    }
}

static void add(struct guess *guess, const char *text)
{
    for (size_t i = 0; i < guess->out->n; i++)
        if (hone_names_equal(guess->out->v[i], text))
            return;
    if (guess->out->n < HONE_LIMIT_CUDA_KERNELS && strlen(text) < HONE_LIMIT_SYMBOL_BYTES)
        guess->out->v[guess->out->n++] = hone_pool_strdup(guess->pool, text);
}

/* Words that mean the same on both sides whatever stands around the launch. */
static bool is_constant_word(const struct guess *guess, const char *word, size_t len)
{
    static const char *const known[] = {
        "true",    "false",   "int",           "unsigned", "signed",  "long",   "short",  "char",
        "bool",    "float",   "double",        "const",    "void",    "half",   "__half", "half2",
        "__half2", "int8_t",  "int16_t",       "int32_t",  "int64_t", "size_t", "float2", "float4",
        "int4",    "uint8_t", "__nv_bfloat16", "uint32_t", "uint64_t"};
    const struct hone_tunable *tunables = guess->tunables->v;
    const struct hone_split_define *defines = guess->split->defines.v;
    for (size_t i = 0; i < HONE_COUNTOF(known); i++)
        if (strlen(known[i]) == len && memcmp(known[i], word, len) == 0)
            return true;
    for (size_t i = 0; i < guess->tunables->n; i++)
        if (strlen(tunables[i].name) == len && memcmp(tunables[i].name, word, len) == 0)
            return true;
    for (size_t i = 0; i < guess->split->defines.n; i++)
        if (strlen(defines[i].name) == len && memcmp(defines[i].name, word, len) == 0)
            return true;
    return false;
}

static const struct hone_split_kernel *kernel_of(const struct guess *guess, const char *name,
                                                 size_t len)
{
    const struct hone_split_kernel *kernels = guess->split->kernels.v;
    for (size_t i = 0; i < guess->split->kernels.n; i++)
        if (strlen(kernels[i].name) == len && memcmp(kernels[i].name, name, len) == 0)
            return &kernels[i];
    return NULL;
}

/* "tiled<TILE, 4>": a kernel template, and nothing in the brackets that a local could stand for. */
static void guess_launch(struct guess *guess, const char *text)
{
    const char *open = strchr(text, '<');
    size_t len = strcspn(text, "< \t");
    const struct hone_split_kernel *kernel = kernel_of(guess, text, len);
    if (open == NULL || kernel == NULL || !kernel->is_template || kernel->is_in_macro)
        return;
    for (const char *at = open; *at != '\0';) {
        size_t n = 0;
        while (is_word(at[n]))
            n++;
        if (n > 0 && !isdigit((unsigned char)*at) && !is_constant_word(guess, at, n))
            return;
        at += n > 0 ? n : 1;
    }
    add(guess, text);
}

/* ---- variables ---- */

/* The name in `__device__ float acc[4];`: the word before the first of ; = [ {. A parenthesis
 * first: a function, or something too clever. */
static const char *declared_name(const char *at, struct hone_pool *pool)
{
    const char *word = NULL;
    size_t len = 0;
    while (*at != '\0' && strchr(";=[{(<,", *at) == NULL) {
        if (!is_word(*at)) {
            at++;
            continue;
        }
        word = at;
        for (len = 0; is_word(at[len]);)
            len++;
        at += len;
        if ((len == 9 && memcmp(word, "constexpr", 9) == 0) ||
            (len == 10 && memcmp(word, "__shared__", 10) == 0) ||
            (len == 6 && memcmp(word, "extern", 6) == 0))
            return NULL;
    }
    return word == NULL || strchr("(<,", *at) != NULL || *at == '\0'
               ? NULL
               : hone_pool_strndup(pool, word, len);
}

static bool starts_with(const char *at, const char *word)
{
    size_t len = strlen(word);
    return strncmp(at, word, len) == 0 && !is_word(at[len]);
}

/* Declarations at file scope begin at depth 0; comments, strings and directives are skipped. */
static void guess_variables(struct guess *guess)
{
    int depth = 0;
    bool is_template = false;
    const char *at = guess->split->device;
    while (*at != '\0') {
        if (at[0] == '/' && at[1] == '/') {
            at += strcspn(at, "\n");
        } else if (at[0] == '/' && at[1] == '*') {
            const char *end = strstr(at + 2, "*/");
            at = end == NULL ? at + strlen(at) : end + 2;
        } else if (*at == '"' || *at == '\'') {
            char quote = *at++;
            while (*at != '\0' && *at != quote)
                at += *at == '\\' && at[1] != '\0' ? 2 : 1;
            at += *at != '\0';
        } else if (*at == '#') {
            at += strcspn(at, "\n");
        } else if (is_word(*at)) {
            bool is_qualifier = starts_with(at, "__device__") || starts_with(at, "__constant__");
            is_template = is_template || starts_with(at, "template");
            const char *name =
                is_qualifier && depth == 0 && !is_template ? declared_name(at, guess->pool) : NULL;
            if (name != NULL)
                add(guess, hone_pool_printf(guess->pool, "&%s", name));
            while (is_word(*at))
                at++;
        } else {
            depth += *at == '{' ? 1 : *at == '}' && depth > 0 ? -1 : 0;
            if (*at == ';' || *at == '}')
                is_template = is_template && depth > 0;
            at++;
        }
    }
}

/* The declaration that the word stands in, from behind the last ; { } or directive. */
static bool is_constant_declaration(const char *text, const char *word, bool *ret_is_on_device)
{
    const char *start = word;
    *ret_is_on_device = false;
    while (start > text && strchr(";{}", start[-1]) == NULL &&
           !(start[-1] == '\n' && (*start == '#')))
        start--;
    if (*start == '#') /* a directive just before: the declaration begins on the next line */
        start += strcspn(start, "\n");
    bool has_const = false, has_pointer = false;
    for (const char *at = start; at < word; at++) {
        bool begins = at == start || !is_word(at[-1]);
        *ret_is_on_device = *ret_is_on_device || (begins && starts_with(at, "__device__"));
        if (begins && starts_with(at, "constexpr"))
            return true;
        has_const = has_const || (begins && starts_with(at, "const"));
        has_pointer = has_pointer || *at == '*' || *at == '&' || *at == '(' || *at == '=';
        if (*at == '(' || *at == '=') /* the word is used here, what is declared stands before */
            *ret_is_on_device = false;
    }
    return has_const && !has_pointer;
}

/* The first mention counts: a variable is declared before it is used. Another of the same name, in
 * another scope, must be no variable of the device. */
bool hone_names_constant(const char *text, const char *name)
{
    if (strncmp(name, "_ZL", 3) == 0) {
        name += 3;
        name += strspn(name, "0123456789");
    }
    size_t len = strlen(name);
    if (strncmp(name, "_Z", 2) == 0 || len == 0)
        return false;
    bool is_first = true, is_on_device = false;
    for (const char *at = strstr(text, name); at != NULL; at = strstr(at + 1, name)) {
        if ((at > text && is_word(at[-1])) || is_word(at[len]))
            continue;
        bool is_constant = is_constant_declaration(text, at, &is_on_device);
        if (!is_constant && (is_first || is_on_device))
            return false;
        is_first = false;
    }
    return !is_first;
}

void hone_guess_names(const struct hone_split *split, const struct hone_array *tunables,
                      struct hone_pool *pool, struct hone_strs *ret)
{
    const struct hone_split_launch *launches = split->launches.v;
    const struct hone_split_kernel *kernels = split->kernels.v;
    *ret = (struct hone_strs){
        .v = hone_pool_alloc(pool, HONE_LIMIT_CUDA_KERNELS * sizeof(const char *))};
    struct guess guess = {.split = split, .tunables = tunables, .pool = pool, .out = ret};
    for (size_t i = 0; i < split->launches.n; i++)
        if (!launches[i].is_in_macro)
            guess_launch(&guess, launches[i].text);
    for (size_t i = 0; i < split->kernels.n; i++)
        if (kernels[i].is_static && !kernels[i].is_template && !kernels[i].is_in_macro)
            add(&guess, kernels[i].name);
    guess_variables(&guess);
}
