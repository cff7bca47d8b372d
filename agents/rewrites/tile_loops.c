/* SPDX-License-Identifier: Apache-2.0 */
/* C01: strip-mine and interchange a perfect pair of independent loops: blocks of TI x TJ. */
#include "agents/rewrites/coder_rules.h"

#include <string.h>

enum { MAX_ACCESSES = 64 };

static const struct hone_c_loop *inner_of(const struct hone_coder_input *in,
                                          const struct hone_c_loop *l)
{
    const struct hone_c_node *only = hone_c_only_stmt(l->node->body);
    const struct hone_c_loop *inner = only ? hone_c_loop_of(&in->nest, only) : NULL;
    const char *why;
    if (!inner || !inner->is_canonical || !inner->declares_var || !inner->is_unit_step ||
        inner->has_parallel || inner->has_simd || hone_c_uses(inner->lower, l->var) ||
        hone_c_uses(inner->upper, l->var) || !hone_c_is_parallel(&in->nest, inner, &why))
        return NULL;
    return inner;
}

/* Blocking pays when something is read again along the outer loop, or read across. */
static bool has_reuse(const struct hone_coder_input *in, const struct hone_c_loop *l,
                      const struct hone_c_loop *inner)
{
    struct hone_c_access a[MAX_ACCESSES];
    size_t n = hone_c_accesses(in->nest.function, inner->node->body, a, MAX_ACCESSES);
    for (size_t i = 0; i < n && i < MAX_ACCESSES; i++) {
        enum hone_c_stride so = hone_c_poly_stride(&a[i].index, l->var),
                           si = hone_c_poly_stride(&a[i].index, inner->var);
        if ((so == HONE_C_STRIDE_ZERO && si != HONE_C_STRIDE_ZERO) || si == HONE_C_STRIDE_FAR)
            return true;
    }
    return false;
}

static bool is_outer(const struct hone_coder_input *in, const struct hone_c_loop *l)
{
    const char *why;
    return !l->is_fallback && l->is_canonical && l->declares_var && l->is_unit_step &&
           !l->has_parallel && !l->has_simd && hone_may_regroup(in, l) &&
           hone_c_is_parallel(&in->nest, l, &why);
}

static size_t sites(const struct hone_coder_input *in, struct hone_coder_site *ret, size_t max)
{
    size_t n = 0;
    for (size_t i = 0; i < in->nest.n && n < max; i++) {
        const struct hone_c_loop *l = &in->nest.loops[i];
        const struct hone_c_loop *inner = is_outer(in, l) ? inner_of(in, l) : NULL;
        if (!inner || !has_reuse(in, l, inner))
            continue;
        ret[n] = hone_site(l->node, l->begin, l->node->end, hone_loop_words(in, l));
        ret[n++].evidence = "something is read again along the outer loop";
    }
    return n;
}

static char *strip(const struct hone_coder_input *in, const struct hone_c_loop *l,
                   const char *block, const char *size)
{
    return hone_pool_printf(in->pool, "for (%s %s = %s; %s < %s; %s += %s)",
                            hone_type_text(in, l->var), block, hone_lower_text(in, l), block,
                            hone_upper_text(in, l), block, size);
}

static char *inside(const struct hone_coder_input *in, const struct hone_c_loop *l,
                    const char *block, const char *size)
{
    const char *upper = hone_upper_text(in, l), *v = l->var->name;
    return hone_pool_printf(in->pool, "for (%s %s = %s; %s < (%s + %s < %s ? %s + %s : %s); %s++)",
                            hone_type_text(in, l->var), v, block, v, block, size, upper, block,
                            size, upper, v);
}

static char *apply(const struct hone_coder_input *in, const struct hone_coder_site *site,
                   struct hone_err *err)
{
    const struct hone_c_loop *l = hone_c_loop_of(&in->nest, site->node);
    const struct hone_c_loop *inner = l ? inner_of(in, l) : NULL;
    if (!inner) {
        hone_fail(err, HONE_E_ARG, "the region is no perfect loop pair of this source");
        return NULL;
    }
    struct hone_c_edits e, none;
    hone_c_edits_init(&e, in->tree);
    hone_c_edits_init(&none, in->tree);
    const char *ti = hone_add_tunable(&e, in, "TI", "32, 16, 64, 128"),
               *tj = hone_add_tunable(&e, in, "TJ", "32, 64, 256, 1024");
    const char *bi = hone_fresh_name(in, hone_pool_printf(in->pool, "%s_block", l->var->name));
    const char *bj = hone_fresh_name(in, hone_pool_printf(in->pool, "%s_block", inner->var->name));
    const char *text = hone_pool_printf(
        in->pool, "%s\n%s\n%s\n%s {\n%s\n}", strip(in, l, bi, ti), strip(in, inner, bj, tj),
        inside(in, l, bi, ti), inside(in, inner, bj, tj), hone_body_text(&none, inner->node->body));
    hone_c_replace(&e, l->begin, hone_c_stmt_end(in->tree, l->node), text);
    return hone_finish_edits(&e);
}

const struct hone_rewrite hone_rewrite_tile_loops = {
    .name = "tile_loops",
    .strategy = "C01",
    .words = "cache blocking of a loop pair",
    .form = HONE_REWRITE_AS_WRITTEN,
    .sites = sites,
    .apply = apply,
};
