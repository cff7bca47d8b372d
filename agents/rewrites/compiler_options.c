/* SPDX-License-Identifier: Apache-2.0 */
/* C15 and C16: compiler switches written into the source as `#pragma GCC optimize`, so that a
 * version stays one file.
 *
 * They come first in the file, because <math.h> declares its vector variants only when
 * it sees fast-math. */
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

static char *add_option(const struct hone_coder_input *in, const char *option)
{
    return hone_pool_printf(in->pool, "#pragma GCC optimize(\"%s\")\n%s", option, in->tree->source);
}

static size_t fast_math_sites(const struct hone_coder_input *in, struct hone_coder_site *ret,
                              size_t max)
{
    return site_of(in, "fast-math", "reassociation and the vector math library become legal", ret,
                   max);
}

static char *fast_math_apply(const struct hone_coder_input *in, const struct hone_coder_site *site,
                             struct hone_err *err)
{
    (void)site;
    (void)err;
    return add_option(in, "fast-math");
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
    return add_option(in, "unroll-loops");
}

const struct hone_rewrite hone_rewrite_fast_math = {
    .name = "fast_math",
    .strategy = "C15",
    .words = "fast math for the file",
    .sites = fast_math_sites,
    .apply = fast_math_apply,
};

const struct hone_rewrite hone_rewrite_unroll_loops = {
    .name = "unroll_loops",
    .strategy = "C16",
    .words = "let the compiler unroll",
    .sites = unroll_sites,
    .apply = unroll_apply,
};
