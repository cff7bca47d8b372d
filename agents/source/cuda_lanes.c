/* SPDX-License-Identifier: Apache-2.0 */
/* Loops that are dealt out to threads: recognising them. */
#include <string.h>

#include "agents/source/cuda_kernel.h"

static bool has_name(const struct hone_c_term *t, const char *name)
{
    for (size_t i = 0; i < t->n_factors; i++)
        if (!t->factors[i].decl && strcmp(t->factors[i].name, name) == 0)
            return true;
    return false;
}

static bool is_term(const struct hone_c_term *t, const char *name)
{
    return t->k == 1 && t->n_factors == 1 && has_name(t, name);
}

/* blockIdx.x * Z + threadIdx.x in steps of gridDim.x * Z */
static bool is_grid_deal(const struct hone_c_poly *lane, const struct hone_c_poly *step)
{
    if (!lane->is_known || !step->is_known || lane->n != 2 || step->n != 1)
        return false;
    size_t thread = is_term(&lane->terms[0], "threadIdx.x") ? 0 : 1;
    if (!is_term(&lane->terms[thread], "threadIdx.x"))
        return false;
    struct hone_c_term block = lane->terms[1 - thread];
    if (!has_name(&block, "blockIdx.x") || !has_name(&step->terms[0], "gridDim.x"))
        return false;
    for (size_t i = 0; i < block.n_factors; i++)
        if (!block.factors[i].decl && strcmp(block.factors[i].name, "blockIdx.x") == 0)
            block.factors[i].name = "gridDim.x";
    return block.k == step->terms[0].k && hone_c_same_factors(&block, &step->terms[0]);
}

/* threadIdx.x in steps of the block's size, which is a constant of all launches or blockDim.x */
static bool is_block_deal(const struct hone_cuda_kernel *k, const struct hone_c_poly *lane,
                          const char *step)
{
    if (!lane->is_known || lane->n != 1 || !is_term(&lane->terms[0], "threadIdx.x"))
        return false;
    if (strcmp(step, "blockDim.x") == 0)
        return true;
    for (size_t i = 0; i < k->n_launches; i++)
        if (strcmp(k->launches[i].block, step) != 0)
            return false;
    return true;
}

/* threadIdx.x % LANES in steps of LANES */
static bool is_part_deal(const struct hone_cuda_kernel *k, const struct hone_c_node *lane,
                         const char *step)
{
    const struct hone_c_node *init = hone_c_strip(lane->decl->last);
    if (init->kind != HONE_C_BINARY || strcmp(init->op, "%") != 0)
        return false;
    const struct hone_c_node *left = hone_c_strip(init->first);
    return left->kind == HONE_C_MEMBER && strcmp(left->name, "threadIdx.x") == 0 &&
           strcmp(hone_c_text(k->in->tree, init->last), step) == 0;
}

bool hone_cuda_read_lane_loop(const struct hone_cuda_kernel *k, const struct hone_c_loop *l,
                              struct hone_cuda_lane_loop *ret)
{
    if (!l->is_canonical || !l->declares_var || l->is_unit_step || strstr(l->var->name, "_rest"))
        return false;
    const struct hone_c_node *lower = hone_c_strip(l->lower), *lane = lower;
    *ret = (struct hone_cuda_lane_loop){.loop = l, .step = l->step};
    if (lower->kind == HONE_C_BINARY && strcmp(lower->op, "+") == 0) {
        ret->lower = lower->first;
        lane = hone_c_strip(lower->last);
    }
    if (lane->kind != HONE_C_REF || !lane->decl || lane->decl->kind != HONE_C_VAR ||
        !lane->decl->last || hone_c_writes(k->function, lane->decl))
        return false;
    struct hone_c_poly at = hone_c_poly_of(k->function, lane->decl->last),
                       step = hone_c_poly_of(k->function, l->node->inc->last);
    ret->lane = lane->name;
    return is_grid_deal(&at, &step) || is_block_deal(k, &at, l->step) ||
           is_part_deal(k, lane, l->step);
}

bool hone_cuda_same_poly(const struct hone_c_poly *a, const struct hone_c_poly *b)
{
    if (!a->is_known || !b->is_known || a->n != b->n)
        return false;
    for (size_t i = 0; i < a->n; i++) {
        size_t j = 0;
        while (j < b->n &&
               !(a->terms[i].k == b->terms[j].k && hone_c_same_factors(&a->terms[i], &b->terms[j])))
            j++;
        if (j == b->n)
            return false;
    }
    return true;
}

bool hone_cuda_is_conditional(const struct hone_c_node *top, const struct hone_c_node *node)
{
    for (const struct hone_c_node *n = node; n != top; n = n->parent) {
        const struct hone_c_node *p = n->parent;
        if (!p)
            return true;
        bool is_choice =
            p->kind == HONE_C_IF || p->kind == HONE_C_CONDITIONAL ||
            (p->kind == HONE_C_BINARY && (strcmp(p->op, "&&") == 0 || strcmp(p->op, "||") == 0));
        if ((is_choice && p->first != n) || p->kind == HONE_C_FOR || p->kind == HONE_C_WHILE)
            return p != top || is_choice;
    }
    return false;
}
