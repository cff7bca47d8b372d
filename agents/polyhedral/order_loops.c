/* SPDX-License-Identifier: Apache-2.0 */
/* Statement after statement, each keeps the best of its legal orders while the others stay. */
#include "agents/polyhedral/order_loops.h"

#include <isl/union_map.h>
#include <string.h>

#include "agents/polyhedral/order_model.h"
#include "agents/polyhedral/order_print.h"

enum { MAX_COUNTERS = 4 }; /* 24 orders */

struct search {
    const struct hone_order_model *model;
    size_t loops[HONE_SCOP_MAX_STATEMENTS][HONE_SCOP_MAX_DEPTH];
    bool is_changed;
};

static isl_union_map *order_of(const struct search *s)
{
    return hone_order_map(s->model, hone_scop_order(s->model->in, s->model->scop, s->loops));
}

/* Does every pair that must keep its order keep it? */
static bool is_legal(const struct search *s)
{
    isl_union_map *order = order_of(s);
    isl_union_map *kept = isl_union_map_lex_lt_union_map(isl_union_map_copy(order), order);
    bool ret = isl_union_map_is_subset(s->model->needed, kept) == isl_bool_true;
    isl_union_map_free(kept);
    return ret;
}

/* The next order of n counters, in lexicographic order; false behind the last. */
static bool next_order(size_t *order, size_t n)
{
    size_t i = n - 1, j = n - 1;
    while (i > 0 && order[i - 1] > order[i])
        i--;
    if (i == 0)
        return false;
    while (order[j] < order[i - 1])
        j--;
    size_t swap = order[i - 1];
    order[i - 1] = order[j];
    order[j] = swap;
    for (j = n - 1; i < j; i++, j--) {
        swap = order[i];
        order[i] = order[j];
        order[j] = swap;
    }
    return true;
}

static void improve(struct search *s, size_t statement)
{
    size_t depth = s->model->scop->statements[statement].depth, *loops = s->loops[statement];
    size_t best[HONE_SCOP_MAX_DEPTH];
    int strides[MAX_COUNTERS], most;
    if (depth < 2 || depth > MAX_COUNTERS)
        return;
    for (size_t d = 0; d < depth; d++)
        strides[d] = hone_order_strides(s->model, statement, d);
    memcpy(best, loops, sizeof best);
    most = strides[depth - 1];
    while (next_order(loops, depth))
        if (strides[loops[depth - 1]] > most && is_legal(s)) {
            memcpy(best, loops, sizeof best);
            most = strides[loops[depth - 1]];
            s->is_changed = true;
        }
    memcpy(loops, best, sizeof best);
}

bool hone_order_loops(const struct hone_coder_input *in, const struct hone_scop *scop,
                      struct hone_order_result *ret)
{
    struct hone_order_model model;
    struct search s = {.model = &model};
    *ret = (struct hone_order_result){.before = ""};
    for (size_t i = 0; i < HONE_SCOP_MAX_STATEMENTS; i++)
        for (size_t d = 0; d < HONE_SCOP_MAX_DEPTH; d++)
            s.loops[i][d] = d;
    if (hone_order_open(&model, in, scop))
        for (size_t i = 0; i < scop->n; i++)
            improve(&s, i);
    if (s.is_changed)
        ret->is_strided = hone_order_print_map(&model, order_of(&s), ret);
    hone_order_close(&model);
    return ret->text != NULL;
}
