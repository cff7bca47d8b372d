/* SPDX-License-Identifier: Apache-2.0 */
/* G26: the maximum of a row and the sum of exponentials below it in one pass.
 *
 *     for i top = max(top, E(i));  sum = 0;  for i sum += expf(E(i) - top);
 *
 * becomes one loop that keeps both: when an element is above the maximum, the sum so far is scaled
 * down to the new one. The maximum must start at an element of the row. */
#include <string.h>

#include "agents/rewrites/coder_rules.h"
#include "agents/source/cuda_kernel.h"

struct passes {
    const struct hone_cuda_kernel *k;
    const struct hone_c_loop *max_loop, *sum_loop;
    struct hone_c_reduction max, sum;
    const struct hone_c_node *call;  /* expf(E - top) */
    const struct hone_c_node *value; /* E in the sum's loop */
};

static const struct hone_c_loop *loop_with(const struct hone_cuda_kernel *k, size_t at,
                                           const char *op, struct hone_c_reduction *ret)
{
    struct hone_c_reduction r[HONE_C_MAX_REDUCTIONS];
    size_t n = 0;
    const struct hone_c_loop *l = hone_c_loop_of(&k->nest, k->stmts[at]);
    if (!l || !l->is_canonical || !l->is_unit_step || !l->declares_var || !l->is_innermost ||
        !hone_c_only_stmt(l->node->body) || !hone_c_reductions(l, r, &n) || n != 1 ||
        strcmp(r[0].op, op) != 0)
        return NULL;
    *ret = r[0];
    return l;
}

/* The two texts, when each loop's variable has the same name in both. */
static bool is_same_value(const struct passes *p, const struct hone_c_node *a,
                          const struct hone_c_node *b)
{
    struct hone_c_edits x, y;
    const struct hone_coder_input *in = p->k->in;
    hone_c_edits_init(&x, in->tree);
    hone_c_edits_init(&y, in->tree);
    hone_c_replace_refs(&x, a, p->max_loop->var, "i");
    hone_c_replace_refs(&y, b, p->sum_loop->var, "i");
    return strcmp(hone_c_edit_text(&x, a->begin, a->end), hone_c_edit_text(&y, b->begin, b->end)) ==
           0;
}

static bool read_exponential(struct passes *p)
{
    p->call = hone_c_strip(p->sum.expr);
    if (p->call->kind != HONE_C_CALL || !strstr(p->call->name, "exp") ||
        hone_c_n_children(p->call) != 2)
        return false;
    const struct hone_c_node *difference = hone_c_strip(p->call->last);
    if (difference->kind != HONE_C_BINARY || strcmp(difference->op, "-") != 0)
        return false;
    const struct hone_c_node *top = hone_c_strip(difference->last);
    p->value = difference->first;
    return top->kind == HONE_C_REF && top->decl == p->max.var &&
           is_same_value(p, p->max.expr, p->value) && p->max.var->last &&
           p->max.var->last->kind == HONE_C_SUBSCRIPT &&
           strcmp(hone_c_text(p->k->in->tree, p->max_loop->upper),
                  hone_c_text(p->k->in->tree, p->sum_loop->upper)) == 0 &&
           strcmp(hone_c_text(p->k->in->tree, p->sum_loop->lower), "0") == 0;
}

static bool read_passes(const struct hone_cuda_kernel *k, struct passes *p)
{
    *p = (struct passes){.k = k};
    for (size_t i = 0; k->is_plain && i + 1 < k->n_stmts; i++) {
        p->max_loop = loop_with(k, i, "max", &p->max);
        if (!p->max_loop)
            continue;
        for (size_t j = i + 1; j < k->n_stmts; j++) {
            p->sum_loop = loop_with(k, j, "+", &p->sum);
            if (p->sum_loop && read_exponential(p))
                return true;
            if (hone_c_uses(k->stmts[j], p->max.var) || hone_cuda_has_store(k->stmts[j]))
                break;
        }
    }
    return false;
}

static size_t sites(const struct hone_coder_input *in, struct hone_coder_site *ret, size_t max)
{
    const struct hone_cuda_kernel *all[HONE_CUDA_MAX_KERNELS];
    size_t n_all = hone_cuda_kernels(in, all, HONE_CUDA_MAX_KERNELS), n = 0;
    for (size_t i = 0; i < n_all && n < max; i++) {
        struct passes p;
        if (read_passes(all[i], &p))
            ret[n++] =
                hone_cuda_site(all[i], 0, "one pass for the maximum, one for the sum below it");
    }
    return n;
}

static char *apply(const struct hone_coder_input *in, const struct hone_coder_site *site,
                   struct hone_err *err)
{
    const struct hone_cuda_kernel *k = hone_cuda_kernel_at(in, site->node);
    struct passes p;
    struct hone_c_edits e;
    if (!k || !read_passes(k, &p)) {
        hone_fail(err, HONE_E_ARG, "no maximum is followed by a sum of exponentials below it");
        return NULL;
    }
    hone_c_edits_init(&e, in->tree);
    const struct hone_c_node *first = p.max_loop->node;
    const char *v = hone_fresh_name(in, "value"), *top = p.max.var->name, *sum = p.sum.var->name;
    const char *indent = hone_c_indent(in->tree, p.sum_loop->node->begin);
    uint32_t body = p.sum_loop->node->body->begin, from = p.max_loop->begin;
    while (from > 0 && strchr(" \t", in->tree->source[from - 1]))
        from--;
    uint32_t to = hone_c_stmt_end(in->tree, first);
    hone_c_replace(&e, from, to + (in->tree->source[to] == '\n'), "");
    hone_c_replace(&e, body, hone_c_stmt_end(in->tree, p.sum_loop->node),
                   hone_pool_printf(
                       in->pool,
                       "{\n%s    const %s %s = %s;\n%s    if (%s > %s) {\n%s        %s *= %s(%s - "
                       "%s);\n%s        %s = %s;\n%s    }\n%s    %s += %s(%s - %s);\n%s}",
                       indent, p.max.var->type, v, hone_c_text(in->tree, p.value), indent, v, top,
                       indent, sum, p.call->name, top, v, indent, top, v, indent, indent, sum,
                       p.call->name, v, top, indent));
    return hone_cuda_finish(&e);
}

const struct hone_rewrite hone_rewrite_cuda_online_softmax = {
    .name = "cuda_online_softmax",
    .target = "cuda",
    .strategy = "G26",
    .words = "maximum and sum of exponentials in one pass",
    .sites = sites,
    .apply = apply,
};
