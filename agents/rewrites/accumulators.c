/* SPDX-License-Identifier: Apache-2.0 */
/* C03: an innermost reduction gets U partial results, so that additions do not wait for each other
 * and fill vectors.
 *
 * The order of additions changes; the tolerance of the task decides whether that is allowed.
 * Deterministic: the order is fixed. */
#include "agents/rewrites/coder_rules.h"

#include <string.h>

static bool is_fit(const struct hone_coder_input *in, const struct hone_c_loop *l)
{
    struct hone_c_reduction r[HONE_C_MAX_REDUCTIONS];
    size_t n = 0;
    const char *why;
    return l->is_innermost && !l->is_fallback && !l->is_small && l->is_canonical &&
           l->is_unit_step && l->declares_var && !l->has_parallel &&
           !strstr(l->var->type, "unsigned") && hone_c_is_parallel(&in->nest, l, &why) &&
           hone_c_reductions(l, r, &n) && n > 0 && hone_may_regroup(in, l);
}

/* Bounds that come from memory (rows of a sparse matrix) mean short loops. */
static bool is_short(const struct hone_coder_input *in)
{
    for (size_t i = 0; i < in->nest.n; i++) {
        const struct hone_c_loop *l = &in->nest.loops[i];
        for (const struct hone_c_node *n = is_fit(in, l) ? l->node->cond : NULL; n;
             n = hone_c_walk(l->node->cond, n))
            if (n->kind == HONE_C_SUBSCRIPT)
                return true;
    }
    return false;
}

static size_t sites(const struct hone_coder_input *in, struct hone_coder_site *ret, size_t max)
{
    size_t n_loops = 0, n_hot = 0;
    for (size_t i = 0; i < in->nest.n; i++) {
        const struct hone_c_loop *l = &in->nest.loops[i];
        bool fits = is_fit(in, l);
        n_loops += fits;
        n_hot += fits && !hone_is_cold(in, l);
    }
    if (n_loops == 0 || max == 0)
        return 0;
    const struct hone_c_node *f = in->nest.function;
    ret[0] = hone_site(f, f->begin, f->end, "every innermost reduction");
    ret[0].is_weak = n_hot == 0;
    ret[0].evidence =
        hone_pool_printf(in->pool, "%zu innermost reduction(s) with one chain", n_loops);
    return 1;
}

static const char *partial(const struct hone_coder_input *in, const struct hone_c_reduction *r)
{
    return hone_fresh_name(in, hone_pool_printf(in->pool, "%s_part", r->var->name));
}

/* Brackets where the text is more than one operand. */
static const char *bracketed(const struct hone_coder_input *in, const char *text)
{
    int depth = 0;
    for (const char *c = text; *c; c++) {
        depth += (*c == '(' || *c == '[') - (*c == ')' || *c == ']');
        if (depth == 0 && strchr("+-/%<>=!&|^?:, ", *c))
            return hone_pool_printf(in->pool, "(%s)", text);
    }
    return text;
}

static const char *update_text(const struct hone_coder_input *in, const struct hone_c_reduction *r,
                               const char *target, const char *value)
{
    return hone_combine_text(in, r, target, bracketed(in, value));
}

static void put_one(struct hone_c_edits *e, const struct hone_coder_input *in,
                    const struct hone_c_loop *l, const char *u, const char *tail)
{
    struct hone_c_reduction r[HONE_C_MAX_REDUCTIONS];
    size_t n = 0;
    hone_c_reductions(l, r, &n);
    const char *k = l->var->name, *t = hone_type_text(in, l->var), *lower = hone_lower_text(in, l),
               *upper = hone_upper_text(in, l);
    const char *index = hone_fresh_name(in, "u"),
               *stop = hone_fresh_name(in, hone_pool_printf(in->pool, "%s_full", k));
    struct hone_c_edits inner;
    hone_c_edits_init(&inner, in->tree);
    HONE_CLEANUP(hone_buf_done) struct hone_buf head = HONE_BUF_INIT, foot = HONE_BUF_INIT;
    for (size_t i = 0; i < n; i++) {
        const char *name = partial(in, &r[i]);
        const char *element = hone_pool_printf(in->pool, "%s[%s]", name, index);
        bool is_choice = r[i].op[0] == 'm';
        const char *start = is_choice ? r[i].var->name : r[i].op[0] == '+' ? "0" : "1";
        hone_buf_printf(&head, "%s %s[%s];\nfor (int %s = 0; %s < %s; %s++)\n%s = %s;\n",
                        hone_type_text(in, r[i].var), name, u, index, index, u, index, element,
                        start);
        struct hone_c_edits value;
        hone_c_edits_init(&value, in->tree);
        hone_c_replace_refs(&value, r[i].expr, l->var,
                            hone_pool_printf(in->pool, "(%s + %s)", k, index));
        const char *text = update_text(in, &r[i], element,
                                       hone_c_edit_text(&value, r[i].expr->begin, r[i].expr->end));
        hone_c_replace(&inner, r[i].stmt->begin, hone_c_stmt_end(in->tree, r[i].stmt), text);
        hone_buf_printf(&foot, "for (int %s = 0; %s < %s; %s++)\n%s\n", index, index, u, index,
                        update_text(in, &r[i], r[i].var->name, element));
    }
    for (const struct hone_c_node *x = l->node->body; x; x = hone_c_walk(l->node->body, x)) {
        bool is_inside = false;
        for (size_t i = 0; i < n; i++)
            is_inside = is_inside || hone_c_contains(r[i].stmt, x);
        if (!is_inside && x->kind == HONE_C_REF && x->decl == l->var)
            hone_c_replace(&inner, x->begin, x->end,
                           hone_pool_printf(in->pool, "(%s + %s)", k, index));
    }
    const char *body = hone_body_text(&inner, l->node->body);
    const char *text =
        hone_pool_printf(in->pool,
                         "{\n%sconst %s %s = %s;\n"
                         "for (%s %s = %s; %s < %s; %s += %s) {\n#pragma omp simd\nfor (int %s = "
                         "0; %s < %s; %s++) {\n%s\n}\n}\n%s"
                         "for (%s %s = %s; %s < %s; %s++) {\n%s\n}\n}",
                         head.data, t, stop, hone_full_text(in, l, u), t, k, lower, k, stop, k, u,
                         index, index, u, index, body, foot.data, t, k, stop, k, upper, k, tail);
    hone_c_replace(e, l->begin, hone_c_stmt_end(in->tree, l->node), text);
}

static char *apply(const struct hone_coder_input *in, const struct hone_coder_site *site,
                   struct hone_err *err)
{
    (void)site;
    struct hone_c_edits e, none;
    hone_c_edits_init(&e, in->tree);
    hone_c_edits_init(&none, in->tree);
    size_t n = 0;
    const char *u = NULL;
    for (size_t i = 0; i < in->nest.n; i++) {
        const struct hone_c_loop *l = &in->nest.loops[i];
        if (!is_fit(in, l))
            continue;
        if (n++ == 0)
            u = hone_add_tunable(&e, in, "U", is_short(in) ? "8, 4, 16" : "32, 16, 64");
        put_one(&e, in, l, u, hone_body_text(&none, l->node->body));
    }
    if (n == 0) {
        hone_fail(err, HONE_E_ARG, "no innermost reduction");
        return NULL;
    }
    return hone_finish_edits(&e);
}

const struct hone_rewrite hone_rewrite_accumulators = {
    .name = "accumulators",
    .strategy = "C03",
    .words = "several accumulators",
    .sites = sites,
    .apply = apply,
};
