/* SPDX-License-Identifier: Apache-2.0 */
/* C24: a long reduction is cut into CHUNKS parts that threads add up apart; the parts are combined
 * in order.
 *
 * OpenMP's own reduction clause was refused: its combining order may change between calls. */
#include "agents/rewrites/coder_rules.h"

#include <string.h>

/* Is the number of iterations a huge one where it should be below zero? */
static bool may_wrap(const struct hone_coder_input *in, const struct hone_c_loop *l)
{
    return strstr(l->var->type, "unsigned") && strcmp(hone_lower_text(in, l), "0") != 0;
}

static bool is_fit(const struct hone_coder_input *in, const struct hone_c_loop *l)
{
    struct hone_c_reduction r[HONE_C_MAX_REDUCTIONS];
    size_t n = 0;
    const char *why;
    return l->depth == 0 && l->is_canonical && l->is_unit_step && l->declares_var &&
           !l->has_parallel && hone_c_is_parallel(&in->nest, l, &why) &&
           hone_c_reductions(l, r, &n) && n > 0 && hone_may_regroup(in, l) && !may_wrap(in, l);
}

static size_t sites(const struct hone_coder_input *in, struct hone_coder_site *ret, size_t max)
{
    size_t n = 0;
    for (size_t i = 0; i < in->nest.n && n < max; i++) {
        const struct hone_c_loop *l = &in->nest.loops[i];
        if (!is_fit(in, l) || !hone_may_thread(in, l))
            continue;
        ret[n] = hone_site(l->node, l->begin, l->node->end, hone_loop_words(in, l));
        ret[n++].evidence = "an outermost reduction that one thread does alone";
    }
    return n;
}

static char *apply(const struct hone_coder_input *in, const struct hone_coder_site *site,
                   struct hone_err *err)
{
    const struct hone_c_loop *l = hone_c_loop_of(&in->nest, site->node);
    if (!l || !is_fit(in, l)) {
        hone_fail(err, HONE_E_ARG, "the region is no outermost reduction");
        return NULL;
    }
    struct hone_c_reduction r[HONE_C_MAX_REDUCTIONS];
    size_t n = 0;
    hone_c_reductions(l, r, &n);
    struct hone_c_edits e, none;
    hone_c_edits_init(&e, in->tree);
    hone_c_edits_init(&none, in->tree);
    const char *chunks = hone_add_tunable(&e, in, "CHUNKS", "8, 2, 4, 32, 128"),
               *c = hone_fresh_name(in, "chunk");
    HONE_CLEANUP(hone_buf_done)
    struct hone_buf head = HONE_BUF_INIT, start = HONE_BUF_INIT, keep = HONE_BUF_INIT,
                    foot = HONE_BUF_INIT;
    for (size_t i = 0; i < n; i++) {
        const char *name = r[i].var->name, *type = hone_type_text(in, r[i].var);
        const char *part = hone_fresh_name(in, hone_pool_printf(in->pool, "%s_chunk", name));
        const char *element = hone_pool_printf(in->pool, "%s[%s]", part, c);
        const char *first = hone_fresh_name(in, hone_pool_printf(in->pool, "%s_first", name));
        const char *identity = r[i].op[0] == '+' ? "0" : r[i].op[0] == '*' ? "1" : first;
        hone_buf_printf(&head, "%s %s[%s];\nconst %s %s = %s;\n(void)%s;\n", type, part, chunks,
                        type, first, name, first);
        hone_buf_printf(&start, "%s %s = %s;\n", type, name, identity);
        hone_buf_printf(&keep, "%s = %s;\n", element, name);
        hone_buf_printf(&foot, "%s\n", hone_combine_text(in, &r[i], name, element));
    }
    const char *text = hone_pool_printf(
        in->pool,
        "{\n%s#pragma omp parallel for schedule(static)%s\nfor (int %s = 0; %s < %s; %s++) {\n%s"
        "%s%s}\n"
        "for (int %s = 0; %s < %s; %s++) {\n%s}\n}",
        head.data, hone_if_clause(in, l), c, c, chunks, c, start.data,
        hone_chunk_text(in, l, c, chunks, hone_body_text(&none, l->node->body)), keep.data, c, c,
        chunks, c, foot.data);
    hone_c_replace(&e, l->begin, hone_c_stmt_end(in->tree, l->node), text);
    return hone_finish_edits(&e);
}

const struct hone_rewrite hone_rewrite_thread_reduction = {
    .name = "thread_reduction",
    .strategy = "C24",
    .words = "thread the outer reduction in chunks",
    .sites = sites,
    .apply = apply,
};
