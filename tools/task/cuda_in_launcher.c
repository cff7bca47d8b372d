/* SPDX-License-Identifier: Apache-2.0 */
/* A launcher for a kernel that is asked for alone: its grid and block are given, or those of a
 * launch in the same file. */
#include <string.h>

#include "tools/task/cuda_in_internal.h"

/* The value that function k gives variable `name`: "dim3 b(16, 16)", "int n = (m + 1) / 2". */
static const char *value_of(const struct hone_cu_view *v, size_t k, size_t name)
{
    for (size_t i = v->d[k].close + 2; i < name; i++) {
        if (v->t.v[i].len != v->t.v[name].len || !hone_cu_is(v, i, hone_cu_word(v, name)) ||
            !hone_c_is_word(&v->t.v[i - 1]))
            continue;
        size_t end = i;
        while (end < name && !hone_cu_is(v, end, ";"))
            end++;
        if (hone_cu_is(v, i + 1, "(") && hone_cu_is(v, i - 1, "dim3"))
            return hone_cu_text(v, i + 2, hone_c_closing(&v->t, i + 1));
        if (hone_cu_is(v, i + 1, "="))
            return hone_pool_printf(v->pool, "(%s)", hone_cu_text(v, i + 2, end));
    }
    return NULL;
}

/* The words of a configuration as the kernel's own; NULL: one is not known. */
static const char *resolve(const struct hone_cu_view *v, size_t k, struct hone_cu_range r,
                           const struct hone_cu_range *params, const struct hone_cu_range *args,
                           size_t n)
{
    const char *text = "";
    for (size_t i = r.first; i < r.end; i++) {
        const char *now = hone_cu_word(v, i), *value = NULL;
        if (hone_c_is_word(&v->t.v[i]) && !hone_cu_is(v, i, "dim3")) {
            for (size_t a = 0; a < n; a++)
                if (args[a].end == args[a].first + 1 && hone_cu_is(v, args[a].first, now))
                    value = hone_cu_word(v, hone_cu_param_name(v, params[a]));
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

static int find_launch(const struct hone_cu_view *v, const struct hone_cu_range *params, size_t n,
                       const char **grid, const char **block)
{
    struct hone_cu_range config, parts[HONE_CU_ARGUMENTS], args[HONE_CU_ARGUMENTS];
    const char *kernel = hone_cu_word(v, v->d[v->launcher].name);
    size_t open;
    for (size_t k = 0; k < v->n; k++)
        for (size_t i = v->d[k].close; i < v->d[k].end; i++) {
            if (!hone_cu_is(v, i, kernel) || !hone_cu_is_launch(v, i, &config, &open) ||
                hone_cu_split(v, open + 1, hone_c_closing(&v->t, open), args) != n ||
                hone_cu_split(v, config.first, config.end, parts) < 2)
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
                           hone_cu_line(v, v->d[v->launcher].name), kernel);
}

/* An export takes "_body" off the task's name: the user gets the kernel's own. */
static const char *launcher_name(const struct hone_cu_view *v, const char *kernel)
{
    const char *task = v->options->name ? v->options->name : kernel;
    const char *body = hone_pool_printf(v->pool, "%s_body", kernel);
    bool is_own = strcmp(task, kernel) == 0 && !hone_cu_has_word(v, 0, v->t.n, body);
    return is_own ? body : hone_pool_printf(v->pool, "%s_launch", kernel);
}

/* The source with a launcher behind it. */
int hone_cu_add_launcher(struct hone_cu_view *v, const char **source, const char **name)
{
    const struct hone_c_definition *d = &v->d[v->launcher];
    struct hone_cu_range params[HONE_CU_ARGUMENTS];
    size_t n = hone_cu_split(v, d->open + 1, d->close, params);
    const char *grid = v->options->grid, *block = v->options->block, *names = "";
    int code = find_launch(v, params, n, &grid, &block);
    if (code < 0)
        return code;
    for (size_t i = 0; i < n; i++)
        names = hone_pool_printf(v->pool, "%s%s%s", names, i ? ", " : "",
                                 hone_cu_word(v, hone_cu_param_name(v, params[i])));
    *name = launcher_name(v, hone_cu_word(v, d->name));
    *source = hone_pool_printf(v->pool,
                               "%s\n\nvoid %s(%s, cudaStream_t stream)\n{\n"
                               "    %s<<<dim3(%s), dim3(%s), 0, stream>>>(%s);\n}\n",
                               *source, *name, hone_cu_text(v, d->open + 1, d->close),
                               hone_cu_word(v, d->name), grid, block, names);
    return 0;
}
