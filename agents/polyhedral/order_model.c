/* SPDX-License-Identifier: Apache-2.0 */
/* Dependences of a run (order_model.h): pairs of accesses to one element of which one writes, from
 * isl's dataflow analysis, over-approximated where a place is not known. */
#include "agents/polyhedral/order_model.h"

#include <isl/flow.h>
#include <isl/options.h>
#include <isl/schedule.h>
#include <isl/schedule_node.h>
#include <isl/set.h>

#include "agents/polyhedral/order.h"
#include "workspace/base/limits.h"

enum { MOST_OPERATIONS = 2000000 }; /* of isl, for one order of a run: four seconds at most */

static isl_ctx *new_ctx(void)
{
    isl_ctx *ctx = isl_ctx_alloc();
    isl_options_set_on_error(ctx, ISL_ON_ERROR_CONTINUE);
    isl_options_set_schedule_maximize_band_depth(ctx, 1);
    isl_options_set_schedule_maximize_coincidence(ctx, 1);
    isl_options_set_tile_shift_point_loops(ctx, 0);
    isl_ctx_set_max_operations(ctx, MOST_OPERATIONS);
    return ctx;
}

bool hone_order_is_empty(const char *set)
{
    isl_ctx *ctx = new_ctx();
    isl_union_set *all = isl_union_set_read_from_str(ctx, set);
    bool is_empty = isl_union_set_is_empty(all) == isl_bool_true;
    isl_union_set_free(all);
    isl_ctx_free(ctx);
    return is_empty;
}

isl_union_map *hone_order_map(const struct hone_order_model *m, const char *text)
{
    return isl_union_map_intersect_domain(isl_union_map_read_from_str(m->ctx, text),
                                          isl_union_set_copy(m->domain));
}

/* Pairs of an earlier source and a later sink that touch the same element. */
static isl_union_map *pairs(isl_union_map *sink, isl_union_map *source, isl_union_map *order)
{
    isl_union_access_info *info = isl_union_access_info_from_sink(isl_union_map_copy(sink));
    info = isl_union_access_info_set_may_source(info, isl_union_map_copy(source));
    info = isl_union_access_info_set_schedule_map(info, isl_union_map_copy(order));
    isl_union_flow *flow = isl_union_access_info_compute_flow(info);
    isl_union_map *ret = isl_union_flow_get_may_dependence(flow);
    isl_union_flow_free(flow);
    return ret;
}

struct accesses {
    isl_union_map *reads, *writes, *updates[HONE_SCOP_MAX_UPDATES];
};

/* All pairs but those of two updates with one operator. */
static isl_union_map *needed_pairs(const struct hone_order_model *m, const struct accesses *a,
                                   isl_union_map *order)
{
    size_t n = m->scop->n_updates;
    isl_union_map *written = isl_union_map_copy(a->writes);
    for (size_t i = 0; i < n; i++)
        written = isl_union_map_union(written, isl_union_map_copy(a->updates[i]));
    isl_union_map *ret =
        isl_union_map_union(pairs(a->reads, written, order), pairs(written, a->reads, order));
    ret = isl_union_map_union(ret, pairs(a->writes, written, order));
    ret = isl_union_map_union(ret, pairs(written, a->writes, order));
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            if (i != j)
                ret = isl_union_map_union(ret, pairs(a->updates[i], a->updates[j], order));
    isl_union_map_free(written);
    return isl_union_map_coalesce(ret);
}

bool hone_order_open(struct hone_order_model *m, const struct hone_coder_input *in,
                     const struct hone_scop *scop)
{
    *m = (struct hone_order_model){.in = in, .scop = scop, .ctx = new_ctx()};
    m->domain = isl_union_set_read_from_str(m->ctx, scop->domain);
    isl_union_map *order = hone_order_map(m, hone_scop_order(in, scop, NULL));
    struct accesses a = {.reads = hone_order_map(m, scop->reads),
                         .writes = hone_order_map(m, scop->writes)};
    for (size_t i = 0; i < scop->n_updates; i++)
        a.updates[i] = hone_order_map(m, scop->updates[i]);
    m->needed = needed_pairs(m, &a, order);
    m->depends = isl_union_map_copy(m->needed);
    for (size_t i = 0; i < scop->n_updates; i++)
        m->depends = isl_union_map_union(m->depends, pairs(a.updates[i], a.updates[i], order));
    m->depends = isl_union_map_coalesce(m->depends);
    for (size_t i = 0; i < scop->n_updates; i++)
        isl_union_map_free(a.updates[i]);
    isl_union_map_free(a.reads);
    isl_union_map_free(a.writes);
    isl_union_map_free(order);
    return m->depends != NULL;
}

void hone_order_close(struct hone_order_model *m)
{
    isl_union_set_free(m->domain);
    isl_union_map_free(m->depends);
    isl_union_map_free(m->needed);
    isl_ctx_free(m->ctx);
}

/* From one element to the next that an access touches: 1 for its neighbour, 0 for itself, -2 for any
 * other. steps: from a run of a statement to the next one. */
int hone_order_move(isl_union_map *place, isl_union_map *steps)
{
    isl_union_map *shift = isl_union_map_apply_range(
        isl_union_map_apply_domain(isl_union_map_copy(steps), isl_union_map_copy(place)), place);
    isl_union_set *all = isl_union_map_deltas(shift);
    if (isl_union_set_is_empty(all) != isl_bool_false) {
        isl_union_set_free(all);
        return 0;
    }
    isl_set *delta = isl_set_from_union_set(all), *same = isl_set_copy(delta),
            *unit = isl_set_copy(delta);
    int n = (int)isl_set_dim(delta, isl_dim_set);
    for (int i = 0; i < n; i++) {
        same = isl_set_fix_si(same, isl_dim_set, (unsigned)i, 0);
        unit = isl_set_fix_si(unit, isl_dim_set, (unsigned)i, i + 1 == n);
    }
    int ret = isl_set_is_subset(delta, same) == isl_bool_true   ? 0
              : isl_set_is_subset(delta, unit) == isl_bool_true ? 1
                                                                : -2;
    isl_set_free(delta);
    isl_set_free(same);
    isl_set_free(unit);
    return ret;
}

int hone_order_strides(const struct hone_order_model *m, size_t statement, size_t counter)
{
    size_t depth = m->scop->statements[statement].depth;
    HONE_CLEANUP(hone_buf_done) struct hone_buf text = {.limit = HONE_LIMIT_SOURCE_BYTES};
    int score = 0;
    hone_buf_printf(&text, "{ S%zu[", statement);
    for (size_t d = 0; d < depth; d++)
        hone_buf_printf(&text, "%sc%zu", d ? "," : "", d);
    hone_buf_printf(&text, "] -> S%zu[", statement);
    for (size_t d = 0; d < depth; d++)
        hone_buf_printf(&text, "%sc%zu%s", d ? "," : "", d, d == counter ? "+1" : "");
    hone_buf_str(&text, "] }");
    isl_union_map *steps = hone_order_map(m, text.data);
    for (size_t p = 0; p < m->scop->n_places; p++)
        score += hone_order_move(hone_order_map(m, m->scop->places[p]), steps);
    isl_union_map_free(steps);
    return score;
}
