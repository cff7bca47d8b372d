/* SPDX-License-Identifier: Apache-2.0 */
/* C15 and C16: compiler switches written into the source as `#pragma GCC optimize`, so that a
 * version stays one file.
 *
 * They come first in the file, because <math.h> declares its vector variants only when
 * it sees fast-math.
 *
 * The pragma does less than the option: gcc decides at its start that sqrtf and its like may set
 * errno, and a loop that calls them is not vectorised. Declared const they set nothing. */
#include "agents/rewrites/coder_rules.h"

#include <string.h>

static size_t site_of(const struct hone_coder_input *in, const char *option, const char *evidence,
                      struct hone_coder_site *ret, size_t max)
{
    if (max == 0 || strstr(in->tree->source, option))
        return 0;
    const struct hone_c_node *f = in->nest.function;
    ret[0] = hone_site(f, f->begin, f->end, option);
    ret[0].evidence = evidence;
    return 1;
}

/* The source as it was written, behind the option and what declarations it needs. */
static char *add_option(const struct hone_coder_input *in, const char *option,
                        const char *declarations)
{
    return hone_pool_printf(in->pool, "#pragma GCC optimize(\"%s\")\n%s%s", option, declarations,
                            hone_coder_source(in));
}

/* Without a number of that kind the option does nothing. */
static bool has_floats(const char *source)
{
    static const char *const words[] = {"float", "double", "_Float16", "__bf16"};
    for (size_t i = 0; i < HONE_COUNTOF(words); i++)
        if (hone_has_word(source, words[i]))
            return true;
    return false;
}

static size_t fast_math_sites(const struct hone_coder_input *in, struct hone_coder_site *ret,
                              size_t max)
{
    if (hone_rounds_as_written(in) || !has_floats(in->tree->source))
        return 0;
    return site_of(in, "fast-math", "reassociation and the vector math library become legal", ret,
                   max);
}

/* Functions of <math.h> that set errno. */
static const struct {
    const char *name;
    int n_args;
} with_errno[] = {{"sqrt", 1},  {"exp", 1},   {"exp2", 1},  {"expm1", 1}, {"log", 1},
                  {"log2", 1},  {"log10", 1}, {"log1p", 1}, {"sin", 1},   {"cos", 1},
                  {"tan", 1},   {"asin", 1},  {"acos", 1},  {"sinh", 1},  {"cosh", 1},
                  {"atanh", 1}, {"pow", 2},   {"fmod", 2},  {"hypot", 2}, {"atan2", 2}};

static bool is_called(const char *text, const char *name)
{
    size_t len = strlen(name);
    for (const char *at = strstr(text, name); at; at = strstr(at + 1, name)) {
        bool starts = at == text || !hone_is_word_char(at[-1]);
        if (starts && at[len + strspn(at + len, " \t")] == '(')
            return true;
    }
    return false;
}

const char *hone_const_math(const struct hone_coder_input *in)
{
    static const struct {
        const char *end, *type;
    } types[] = {{"", "double"}, {"f", "float"}};
    const char *text = "", *source = hone_coder_source(in);
    if (!strstr(source, "<math.h>") || strstr(source, "__attribute__((const)) "))
        return text;
    for (size_t i = 0; i < HONE_COUNTOF(with_errno); i++)
        for (size_t t = 0; t < HONE_COUNTOF(types); t++) {
            const char *type = types[t].type;
            const char *name = hone_pool_printf(in->pool, "%s%s", with_errno[i].name, types[t].end);
            if (is_called(source, name))
                text = hone_pool_printf(in->pool, "%s__attribute__((const)) %s %s(%s%s%s);\n", text,
                                        type, name, type, with_errno[i].n_args == 2 ? ", " : "",
                                        with_errno[i].n_args == 2 ? type : "");
        }
    return text;
}

static char *fast_math_apply(const struct hone_coder_input *in, const struct hone_coder_site *site,
                             struct hone_err *err)
{
    (void)site;
    (void)err;
    return add_option(in, "fast-math", hone_const_math(in));
}

static size_t unroll_sites(const struct hone_coder_input *in, struct hone_coder_site *ret,
                           size_t max)
{
    return site_of(in, "unroll-loops", "always cheap to try", ret, max);
}

static char *unroll_apply(const struct hone_coder_input *in, const struct hone_coder_site *site,
                          struct hone_err *err)
{
    (void)site;
    (void)err;
    return add_option(in, "unroll-loops", "");
}

const struct hone_rewrite hone_rewrite_fast_math = {
    .name = "fast_math",
    .strategy = "C15",
    .suits_region = true,
    .words = "fast math for the file",
    .sites = fast_math_sites,
    .apply = fast_math_apply,
};

const struct hone_rewrite hone_rewrite_unroll_loops = {
    .name = "unroll_loops",
    .strategy = "C16",
    .suits_region = true,
    .words = "let the compiler unroll",
    .sites = unroll_sites,
    .apply = unroll_apply,
};
