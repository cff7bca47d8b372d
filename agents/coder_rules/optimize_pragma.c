/* C16 and C15: compiler switches written into the source as `#pragma GCC optimize`, so that a
 * version stays one file.
 *
 * variant 0 fast-math (reassociation, vector math library), 1 unroll-loops, 2 both. */
#include "agents/coder_rules.h"

#include <string.h>

static const struct {
    const char *words, *options;
} forms[] = {
    {"fast-math", "\"fast-math\""},
    {"unroll-loops", "\"unroll-loops\""},
};

static size_t sites(const struct hone_coder_input *in, struct hone_coder_site *ret, size_t max)
{
    size_t n = 0;
    const struct hone_c_node *f = in->nest.function;
    for (size_t i = 0; i < HONE_COUNTOF(forms) && n < max; i++) {
        if (strstr(in->tree->source, forms[i].options))
            continue;
        ret[n] = hone_site(f, f->begin, f->end, forms[i].words);
        ret[n].evidence = "always cheap to try";
        ret[n++].variant = (int)i;
    }
    return n;
}

static char *apply(const struct hone_coder_input *in, const struct hone_coder_site *site,
                   struct hone_err *err)
{
    if (site->variant < 0 || (size_t)site->variant >= HONE_COUNTOF(forms)) {
        hone_fail(err, HONE_E_ARG, "no such variant");
        return NULL;
    }
    return hone_pool_printf(in->pool, "#pragma GCC optimize(%s)\n%s", forms[site->variant].options,
                            in->tree->source);
}

const struct hone_rewrite hone_rewrite_optimize_pragma = {
    .name = "optimize_pragma",
    .strategy = "C16",
    .words = "compiler switches in the source",
    .sites = sites,
    .apply = apply,
};
