/* SPDX-License-Identifier: Apache-2.0 */
/* C04: pointers of the signature get `restrict`, and innermost loops that allow it get `omp simd`
 * with their reductions.
 *
 * `restrict` is true for every task: inputs and outputs are separate buffers (in-place maps aside,
 * which give one pointer). */
#include "agents/rewrites/coder_rules.h"

#include <string.h>

static bool is_simd_loop(const struct hone_coder_input *in, const struct hone_c_loop *l)
{
    const char *why;
    return l->is_innermost && !l->has_simd && (l->has_parallel || l->begin == l->node->begin) &&
           hone_c_is_parallel(&in->nest, l, &why) && hone_may_regroup(in, l);
}

static bool wants_restrict(const struct hone_coder_input *in)
{
    const char *head = in->tree->source + in->nest.function->begin;
    HONE_AUTOFREE char *text =
        hone_strndup(head, in->nest.function->body->begin - in->nest.function->begin);
    return strchr(text, '*') && !strstr(text, "restrict");
}

static size_t sites(const struct hone_coder_input *in, struct hone_coder_site *ret, size_t max)
{
    size_t n_loops = 0, n_hot = 0;
    for (size_t i = 0; i < in->nest.n; i++) {
        const struct hone_c_loop *l = &in->nest.loops[i];
        bool fits = is_simd_loop(in, l);
        n_loops += fits;
        n_hot += fits && !hone_is_cold(in, l);
    }
    if (max == 0 || in->nest.n == 0 || (n_loops == 0 && !wants_restrict(in)))
        return 0;
    const struct hone_c_node *f = in->nest.function;
    ret[0] = hone_site(f, f->begin, f->end, "every innermost loop");
    ret[0].is_weak = n_hot == 0;
    ret[0].evidence =
        n_loops == 0
            ? "restrict alone: no innermost loop can take a vector pragma"
            : hone_pool_printf(in->pool, "%zu innermost loop(s) without a vector pragma", n_loops);
    return 1;
}

static const char *clauses(const struct hone_coder_input *in, const struct hone_c_loop *l)
{
    struct hone_c_reduction r[HONE_C_MAX_REDUCTIONS];
    size_t n = 0;
    const char *out = "";
    hone_c_reductions(l, r, &n);
    for (size_t i = 0; i < n; i++)
        out = hone_pool_printf(in->pool, "%s reduction(%s : %s)", out, r[i].op, r[i].var->name);
    return out;
}

static void add_restrict(struct hone_c_edits *e, const struct hone_coder_input *in)
{
    for (const struct hone_c_node *p = in->nest.function->first; p; p = p->next)
        if (p->kind == HONE_C_PARAM && strchr(p->type, '*') && p->name[0])
            hone_c_replace(e, p->name_at, p->name_at, "restrict ");
}

/* A pragma is a line of its own. */
static bool begins_line(const struct hone_coder_input *in, const struct hone_c_loop *l)
{
    uint32_t at = l->node->begin;
    while (at > 0 && strchr(" \t", in->tree->source[at - 1]))
        at--;
    return at == 0 || in->tree->source[at - 1] == '\n';
}

static char *apply(const struct hone_coder_input *in, const struct hone_coder_site *site,
                   struct hone_err *err)
{
    (void)site;
    (void)err;
    struct hone_c_edits e;
    hone_c_edits_init(&e, in->tree);
    if (wants_restrict(in))
        add_restrict(&e, in);
    for (size_t i = 0; i < in->nest.n; i++) {
        const struct hone_c_loop *l = &in->nest.loops[i];
        if (!is_simd_loop(in, l))
            continue;
        const char *kind = l->has_parallel
                               ? ""
                               : hone_pool_printf(in->pool, "%s#pragma omp simd%s\n%s",
                                                  begins_line(in, l) ? "" : "\n", clauses(in, l),
                                                  hone_c_indent(in->tree, l->node->begin));
        hone_c_replace(&e, l->node->begin, l->node->begin, kind);
    }
    return hone_finish_edits(&e);
}

const struct hone_rewrite hone_rewrite_simd_inner = {
    .name = "simd_inner",
    .strategy = "C04",
    .suits_region = true,
    .words = "let the compiler vectorise: restrict and omp simd",
    .sites = sites,
    .apply = apply,
};
