/* SPDX-License-Identifier: Apache-2.0 */
/* Sums as products of factors (sum_panels.h). */
#include "agents/rewrites/sum_panels.h"

#include <string.h>

struct reading {
    const struct hone_coder_input *in;
    const struct hone_sum_nest *nest;
    struct hone_sum_panels *ret;
    const char *type; /* in which products are multiplied and added */
};

static bool is_binary(const struct hone_c_node *n, const char *op)
{
    return n->kind == HONE_C_BINARY && strcmp(n->op, op) == 0;
}

/* Columns that a row's factor reads are another one's for each column: no panel has them. */
static bool add_factor(struct reading *r, struct hone_sum_product *p, const struct hone_c_node *n)
{
    bool is_row = hone_c_uses(n, r->nest->rows->var);
    struct hone_sum_factors *to = is_row ? &p->row : &p->panel;
    if (to->n == HONE_SUM_MAX_FACTORS || (is_row && hone_c_uses(n, r->nest->columns->var)))
        return false;
    to->v[to->n++] = n;
    return true;
}

static bool add_factors(struct reading *r, struct hone_sum_product *p, const struct hone_c_node *n)
{
    n = hone_c_bare(n);
    if (is_binary(n, "*") && strcmp(n->type, r->type) == 0)
        return add_factors(r, p, n->first) && add_factors(r, p, n->last);
    return add_factor(r, p, n);
}

static bool uses_any(const struct hone_sum_factors *f, const struct hone_c_node *var)
{
    for (size_t i = 0; i < f->n; i++)
        if (hone_c_uses(f->v[i], var))
            return true;
    return false;
}

/* A panel of one value for all columns is a number, which stays with the row's factors. */
static bool keep_with_row(struct hone_sum_product *p)
{
    if (p->row.n + p->panel.n > HONE_SUM_MAX_FACTORS)
        return false;
    memcpy(p->row.v + p->row.n, p->panel.v, p->panel.n * sizeof *p->panel.v);
    p->row.n += p->panel.n;
    p->panel.n = 0;
    return true;
}

static bool add_product(struct reading *r, size_t update, const struct hone_c_node *n,
                        bool is_minus)
{
    if (r->ret->n == HONE_SUM_MAX_PRODUCTS)
        return false;
    struct hone_sum_product *p = &r->ret->products[r->ret->n++];
    *p = (struct hone_sum_product){.update = update, .is_minus = is_minus};
    if (!add_factors(r, p, n))
        return false;
    if (!uses_any(&p->panel, r->nest->columns->var))
        return keep_with_row(p);
    return ++r->ret->n_panels <= HONE_SUM_MAX_PANELS;
}

static bool add_products(struct reading *r, size_t update, const struct hone_c_node *n,
                         bool is_minus)
{
    n = hone_c_bare(n);
    bool is_sum = is_binary(n, "+"), is_difference = is_binary(n, "-");
    if ((is_sum || is_difference) && strcmp(n->type, r->type) == 0)
        return add_products(r, update, n->first, is_minus) &&
               add_products(r, update, n->last, is_minus != is_difference);
    return add_product(r, update, n, is_minus);
}

/* What all columns of a block have in common is read from the panel as often as there are rows. */
static bool is_contraction(const struct reading *r, const struct hone_sum_product *p)
{
    const struct hone_c_node *k = r->nest->sum->var;
    return p->panel.n > 0 && uses_any(&p->row, k) && uses_any(&p->panel, k);
}

static bool has_free_panels(const struct reading *r)
{
    bool has_any = false;
    for (size_t i = 0; i < r->ret->n; i++) {
        const struct hone_sum_product *p = &r->ret->products[i];
        has_any = has_any || is_contraction(r, p);
        for (size_t f = 0; f < p->panel.n; f++)
            if (!hone_sum_is_fixed(r->in, r->nest, p->panel.v[f]))
                return false;
    }
    return has_any;
}

bool hone_sum_panels_of(const struct hone_coder_input *in, const struct hone_sum_nest *nest,
                        struct hone_sum_panels *ret)
{
    struct reading r = {.in = in, .nest = nest, .ret = ret};
    *ret = (struct hone_sum_panels){.n = 0};
    if (!nest->columns || nest->n_others > 0 || nest->sum_lower || nest->sum_upper)
        return false;
    r.type = ret->type = nest->updates[0].var->type;
    for (size_t u = 0; u < nest->n_updates; u++) {
        const struct hone_sum_update *update = &nest->updates[u];
        if (strcmp(update->var->type, r.type) != 0 || strcmp(update->expr->type, r.type) != 0 ||
            !add_products(&r, u, update->expr, update->is_minus))
            return false;
    }
    return has_free_panels(&r);
}
