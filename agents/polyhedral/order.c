/* SPDX-License-Identifier: Apache-2.0 */
/* The owner of isl: dependences of a run, a schedule of it, and C from the schedule.
 *
 * Three steps. Dependences are computed from what is read and written, over-approximated where a
 * place is not known. isl's scheduler proposes bands of loops that may be swapped; within each band
 * hone chooses the order, or cuts it into blocks. The syntax tree that isl makes is printed with
 * the statements' own text. Whether the iterations of a printed loop are independent is asked of
 * the dependences, loop by loop, and not taken from the schedule. */
#include "agents/polyhedral/order.h"

#include <isl/aff.h>
#include <isl/ast_build.h>
#include <isl/ctx.h>
#include <isl/flow.h>
#include <isl/id.h>
#include <isl/map.h>
#include <isl/options.h>
#include <isl/schedule_node.h>
#include <isl/set.h>
#include <isl/space.h>
#include <isl/union_map.h>
#include <isl/union_set.h>
#include <isl/val.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "workspace/base/limits.h"

enum {
    MOST_OPERATIONS = 1000000, /* of isl, for one order of a run: two seconds at most */
    MAX_MEMBERS = 4,           /* of a band whose orders are all looked at */
    TILE = 32,
    STRIP = 64, /* neighbours in a block, where threads and vectors share a loop */
    FEW = 4,    /* iterations with loops inside, or FEW_PLAIN without: not worth waking threads */
    FEW_PLAIN = 16384
};

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

/* ---- dependences ---- */

struct model {
    const struct hone_coder_input *in;
    const struct hone_scop *scop;
    isl_ctx *ctx;
    isl_union_set *domain;
    isl_union_map *depends;
};

static isl_union_map *read_map(const struct model *m, const char *text)
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

static bool open_model(struct model *m, const struct hone_coder_input *in,
                       const struct hone_scop *scop)
{
    *m = (struct model){.in = in, .scop = scop, .ctx = new_ctx()};
    m->domain = isl_union_set_read_from_str(m->ctx, scop->domain);
    isl_union_map *reads = read_map(m, scop->reads), *writes = read_map(m, scop->writes),
                  *order = read_map(m, scop->order);
    m->depends = isl_union_map_union(pairs(reads, writes, order), pairs(writes, reads, order));
    m->depends = isl_union_map_union(m->depends, pairs(writes, writes, order));
    m->depends = isl_union_map_coalesce(m->depends);
    isl_union_map_free(reads);
    isl_union_map_free(writes);
    isl_union_map_free(order);
    return m->depends != NULL;
}

static void close_model(struct model *m)
{
    isl_union_set_free(m->domain);
    isl_union_map_free(m->depends);
    isl_ctx_free(m->ctx);
}

static isl_schedule *schedule_of(const struct model *m, enum hone_order order)
{
    /* Loops of their own stay plain enough for other rules; blocks want them together. */
    isl_options_set_schedule_serialize_sccs(m->ctx, order == HONE_ORDER_VECTOR);
    isl_schedule_constraints *c = isl_schedule_constraints_on_domain(isl_union_set_copy(m->domain));
    c = isl_schedule_constraints_set_validity(c, isl_union_map_copy(m->depends));
    c = isl_schedule_constraints_set_coincidence(c, isl_union_map_copy(m->depends));
    c = isl_schedule_constraints_set_proximity(c, isl_union_map_copy(m->depends));
    return isl_schedule_constraints_compute_schedule(c);
}

/* ---- orders within a band ---- */

struct band {
    const struct model *model;
    size_t n;
    isl_union_pw_aff *members[MAX_MEMBERS];
    isl_union_map *depends; /* those that the loops around leave to this band */
    int strides[MAX_MEMBERS];
    bool is_skewed; /* a step of a member is no step of one counter */
};

static isl_union_map *still_equal(isl_union_map *depends, isl_union_pw_aff *member)
{
    isl_multi_union_pw_aff *one =
        isl_multi_union_pw_aff_from_union_pw_aff(isl_union_pw_aff_copy(member));
    return isl_union_map_eq_at_multi_union_pw_aff(depends, one);
}

/* From one element to the next that an access touches: 1 for its neighbour, 0 for itself, -2 for any
 * other. steps: from a run of a statement to the next one. */
static int move_of(isl_union_map *place, isl_union_map *steps)
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

/* Is each step one of a single counter? */
static isl_stat look_for_skew(isl_set *delta, void *arg)
{
    bool *is_skewed = arg;
    bool is_plain = isl_set_is_empty(delta) == isl_bool_true;
    int n = (int)isl_set_dim(delta, isl_dim_set);
    for (int i = 0; i < n && !is_plain; i++) {
        isl_set *unit = isl_set_copy(delta);
        for (int d = 0; d < n; d++)
            if (d != i)
                unit = isl_set_fix_si(unit, isl_dim_set, (unsigned)d, 0);
        is_plain = isl_set_is_subset(delta, unit) == isl_bool_true;
        isl_set_free(unit);
    }
    *is_skewed = *is_skewed || !is_plain;
    isl_set_free(delta);
    return isl_stat_ok;
}

/* Accesses that move to a neighbour with each step of the member, less those that move further.
 * around: pairs of runs for which all loops around the band are where they are. */
static int strides_of(struct band *band, size_t member, isl_union_map *around)
{
    const struct hone_scop *scop = band->model->scop;
    isl_union_map *steps = isl_union_map_copy(around);
    int score = 0;
    for (size_t i = 0; i < band->n; i++)
        if (i != member)
            steps = still_equal(steps, band->members[i]);
    isl_union_map *value =
        isl_union_map_from_union_pw_aff(isl_union_pw_aff_copy(band->members[member]));
    isl_union_map *next = isl_union_map_read_from_str(band->model->ctx, "{ [i] -> [i + 1] }");
    next = isl_union_map_apply_range(isl_union_map_copy(value), next);
    next = isl_union_map_apply_range(next, isl_union_map_reverse(value));
    steps = isl_union_map_intersect(steps, next);
    isl_union_set *deltas = isl_union_map_deltas(isl_union_map_copy(steps));
    isl_union_set_foreach_set(deltas, look_for_skew, &band->is_skewed);
    isl_union_set_free(deltas);
    for (size_t i = 0; i < scop->n_places; i++)
        score += move_of(read_map(band->model, scop->places[i]), steps);
    isl_union_map_free(steps);
    return score;
}

/* Is the member's step free of dependences, once the members before it are equal? */
static bool is_free(isl_union_map *depends, isl_union_pw_aff *member)
{
    isl_union_map *equal = still_equal(isl_union_map_copy(depends), member);
    bool ret = isl_union_map_is_subset(depends, equal) == isl_bool_true;
    isl_union_map_free(equal);
    return ret;
}

/* The place of the first member of the order that threads can share; n: none. */
static size_t first_free(const struct band *band, const size_t *order)
{
    isl_union_map *depends = isl_union_map_copy(band->depends);
    size_t i = 0;
    for (; i < band->n && !is_free(depends, band->members[order[i]]); i++)
        depends = still_equal(depends, band->members[order[i]]);
    isl_union_map_free(depends);
    return i;
}

static bool next_order(size_t *order, size_t n)
{
    size_t i = n - 1;
    while (i > 0 && order[i - 1] > order[i])
        i--;
    if (i == 0)
        return false;
    size_t j = n - 1;
    while (order[j] < order[i - 1])
        j--;
    size_t swap = order[i - 1];
    order[i - 1] = order[j];
    order[j] = swap;
    for (size_t a = i, b = n - 1; a < b; a++, b--) {
        swap = order[a];
        order[a] = order[b];
        order[b] = swap;
    }
    return true;
}

/* A sum that the loop inside adds to in memory costs about as much as two far accesses. */
static int worth_inside(const struct band *band, size_t member)
{
    isl_union_map *depends = isl_union_map_copy(band->depends);
    for (size_t i = 0; i < band->n; i++)
        if (i != member)
            depends = still_equal(depends, band->members[i]);
    int ret = band->strides[member] - (is_free(depends, band->members[member]) ? 0 : 2);
    isl_union_map_free(depends);
    return ret;
}

/* Threads can share the loop inside alone: they take blocks of it. */
static bool wants_strip(const struct band *band, const size_t *order)
{
    return first_free(band, order) > 0 && is_free(band->depends, band->members[order[band->n - 1]]);
}

/* Best strides inside, then threads outermost, then the order that it is in. */
static void choose(const struct band *band, size_t best[MAX_MEMBERS])
{
    size_t order[MAX_MEMBERS] = {0, 1, 2, 3}, best_free = band->n + 1;
    int best_worth = -1000, worth[MAX_MEMBERS] = {0};
    for (size_t i = 0; i < band->n; i++)
        worth[i] = worth_inside(band, i);
    do {
        int here = worth[order[band->n - 1]];
        if (here < best_worth)
            continue;
        size_t free_at = wants_strip(band, order) ? 0 : first_free(band, order);
        if (here > best_worth || free_at < best_free) {
            memcpy(best, order, sizeof order);
            best_worth = here;
            best_free = free_at;
        }
    } while (next_order(order, band->n));
}

static isl_union_map *same_around(isl_schedule_node *node)
{
    isl_union_set *domain = isl_schedule_node_get_domain(node);
    isl_union_map *all = isl_union_map_universe(isl_union_map_from_domain_and_range(
        isl_union_set_copy(domain), isl_union_set_copy(domain)));
    isl_multi_union_pw_aff *around = isl_schedule_node_get_prefix_schedule_multi_union_pw_aff(node);
    all = isl_union_map_intersect_domain(all, isl_union_set_copy(domain));
    all = isl_union_map_intersect_range(all, domain);
    return isl_union_map_eq_at_multi_union_pw_aff(all, around);
}

static void open_band(struct band *band, const struct model *model, isl_schedule_node *node)
{
    isl_multi_union_pw_aff *all = isl_schedule_node_band_get_partial_schedule(node);
    *band = (struct band){.model = model, .n = (size_t)isl_schedule_node_band_n_member(node)};
    isl_union_map *around = same_around(node);
    for (size_t i = 0; i < band->n; i++)
        band->members[i] = isl_multi_union_pw_aff_get_union_pw_aff(all, (int)i);
    band->depends =
        isl_union_map_intersect(isl_union_map_copy(model->depends), isl_union_map_copy(around));
    for (size_t i = 0; i < band->n; i++)
        band->strides[i] = strides_of(band, i, around);
    isl_union_map_free(around);
    isl_multi_union_pw_aff_free(all);
}

static void close_band(struct band *band)
{
    for (size_t i = 0; i < band->n; i++)
        isl_union_pw_aff_free(band->members[i]);
    isl_union_map_free(band->depends);
}

/* A band in place of this one, of the members in their new order. */
static isl_schedule_node *put_band(isl_schedule_node *node, const struct band *band,
                                   const size_t *order, bool has_strip)
{
    size_t inner = order[band->n - 1];
    isl_union_pw_aff_list *list = isl_union_pw_aff_list_alloc(band->model->ctx, (int)band->n + 1);
    if (has_strip) {
        isl_val *size = isl_val_int_from_si(band->model->ctx, STRIP);
        isl_union_pw_aff *strip = isl_union_pw_aff_copy(band->members[inner]);
        strip = isl_union_pw_aff_floor(isl_union_pw_aff_scale_down_val(strip, size));
        list = isl_union_pw_aff_list_add(list, strip);
    }
    for (size_t i = 0; i < band->n; i++)
        list = isl_union_pw_aff_list_add(list, isl_union_pw_aff_copy(band->members[order[i]]));
    isl_space *space =
        isl_space_set_from_params(isl_space_params(isl_schedule_node_band_get_space(node)));
    space = isl_space_add_dims(space, isl_dim_set, (unsigned)(band->n + has_strip));
    isl_multi_union_pw_aff *all = isl_multi_union_pw_aff_from_union_pw_aff_list(space, list);
    node = isl_schedule_node_delete(node);
    node = isl_schedule_node_insert_partial_schedule(node, all);
    for (int i = 0; i < (int)(band->n + has_strip); i++) /* no conditions inside of loops */
        node = isl_schedule_node_band_member_set_ast_loop_type(node, i, isl_ast_loop_separate);
    return node;
}

struct change {
    const struct model *model;
    int strides; /* of the innermost loops, as move_of counts */
    bool is_skewed;
};

static bool is_open_band(isl_schedule_node *node)
{
    return isl_schedule_node_get_type(node) == isl_schedule_node_band &&
           isl_schedule_node_band_get_permutable(node) == isl_bool_true &&
           isl_schedule_node_band_n_member(node) <= MAX_MEMBERS;
}

static isl_bool count_band(isl_schedule_node *node, void *arg)
{
    int *n = arg;
    *n += isl_schedule_node_get_type(node) == isl_schedule_node_band;
    return isl_bool_true;
}

static isl_schedule_node *reorder(isl_schedule_node *node, void *arg)
{
    struct change *change = arg;
    int n_bands = 0;
    if (!is_open_band(node))
        return node;
    struct band band;
    size_t order[MAX_MEMBERS] = {0, 1, 2, 3};
    open_band(&band, change->model, node);
    isl_schedule_node_foreach_descendant_top_down(node, count_band, &n_bands);
    if (band.n > 1) {
        choose(&band, order);
        node = put_band(node, &band, order, wants_strip(&band, order));
        change->is_skewed = change->is_skewed || band.is_skewed;
    }
    if (n_bands == 1)
        change->strides += band.strides[order[band.n - 1]];
    close_band(&band);
    return node;
}

/* What the innermost loops of the source come to. */
static int strides_as_written(const struct model *m)
{
    int score = 0;
    for (size_t i = 0; i < m->scop->n; i++) {
        size_t depth = m->scop->statements[i].depth;
        HONE_CLEANUP(hone_buf_done) struct hone_buf text = {.limit = HONE_LIMIT_SOURCE_BYTES};
        if (depth == 0)
            continue;
        hone_buf_printf(&text, "{ S%zu[", i);
        for (size_t d = 0; d < depth; d++)
            hone_buf_printf(&text, "%sc%zu", d ? "," : "", d);
        hone_buf_printf(&text, "] -> S%zu[", i);
        for (size_t d = 0; d < depth; d++)
            hone_buf_printf(&text, "%sc%zu%s", d ? "," : "", d, d + 1 == depth ? "+1" : "");
        hone_buf_str(&text, "] }");
        isl_union_map *steps = read_map(m, text.data);
        for (size_t p = 0; p < m->scop->n_places; p++)
            score += move_of(read_map(m, m->scop->places[p]), steps);
        isl_union_map_free(steps);
    }
    return score;
}

/* Blocks of the outermost band; where they depend, the first counter becomes that of a wavefront,
 * f + g, so that the blocks of one wave are independent. */
static isl_schedule_node *block(isl_schedule_node *node, void *arg)
{
    struct change *change = arg;
    if (!is_open_band(node) || isl_schedule_node_band_n_member(node) < 2 ||
        isl_schedule_node_get_schedule_depth(node) > 0)
        return node;
    unsigned n = (unsigned)isl_schedule_node_band_n_member(node);
    isl_multi_val *sizes = isl_multi_val_zero(isl_schedule_node_band_get_space(node));
    for (unsigned i = 0; i < n; i++)
        sizes = isl_multi_val_set_val(sizes, (int)i, isl_val_int_from_si(change->model->ctx, TILE));
    node = isl_schedule_node_band_tile(node, sizes);
    struct band band;
    open_band(&band, change->model, node);
    const size_t order[MAX_MEMBERS] = {0, 1, 2, 3};
    change->is_skewed = change->is_skewed || band.is_skewed;
    if (first_free(&band, order) > 0) {
        band.members[0] =
            isl_union_pw_aff_add(band.members[0], isl_union_pw_aff_copy(band.members[1]));
        node = put_band(node, &band, order, false);
    }
    close_band(&band);
    return node;
}

/* ---- C ---- */

struct printer {
    const struct model *model;
    struct hone_order_result *result;
    struct hone_buf text;
    isl_union_map *depends; /* while the tree is made */
    bool is_shared;         /* within a loop that threads share */
};

/* Are the iterations of the loop independent, the loops around it being where they are? The last
 * dimension of the schedule that the build has is the loop's. */
static bool is_independent(isl_ast_build *build, isl_union_map *depends)
{
    isl_union_map *schedule = isl_ast_build_get_schedule(build);
    isl_union_map *times =
        isl_union_map_apply_domain(isl_union_map_copy(depends), isl_union_map_copy(schedule));
    times = isl_union_map_apply_range(times, schedule);
    isl_union_set *all = isl_union_map_deltas(times);
    if (isl_union_set_is_empty(all) == isl_bool_true) { /* of no dimension */
        isl_union_set_free(all);
        return true;
    }
    isl_set *steps = isl_set_from_union_set(all);
    int n = steps ? (int)isl_set_dim(steps, isl_dim_set) : 0;
    for (int i = 0; i + 1 < n; i++)
        steps = isl_set_fix_si(steps, isl_dim_set, (unsigned)i, 0);
    isl_set *same = isl_set_fix_si(isl_set_copy(steps), isl_dim_set, (unsigned)n - 1, 0);
    bool ret = isl_set_is_subset(steps, same) == isl_bool_true;
    isl_set_free(steps);
    isl_set_free(same);
    return ret;
}

static isl_id *before_loop(isl_ast_build *build, void *arg)
{
    const struct printer *p = arg;
    return isl_id_alloc(p->model->ctx, is_independent(build, p->depends) ? "free" : "bound", NULL);
}

static bool is_marked_free(isl_ast_node *node)
{
    isl_id *id = isl_ast_node_get_annotation(node);
    bool ret = id && strcmp(isl_id_get_name(id), "free") == 0;
    isl_id_free(id);
    return ret;
}

/* C of an expression; the names of the functions that isl would have as macros are hone's. */
static char *expr_text(const struct printer *p, isl_ast_expr *expr)
{
    isl_printer *to = isl_printer_to_str(p->model->ctx);
    to = isl_printer_set_output_format(to, ISL_FORMAT_C);
    to = isl_ast_expr_op_type_set_print_name(to, isl_ast_expr_op_min, "least_of");
    to = isl_ast_expr_op_type_set_print_name(to, isl_ast_expr_op_max, "greatest_of");
    to = isl_ast_expr_op_type_set_print_name(to, isl_ast_expr_op_fdiv_q, "floor_div");
    to = isl_printer_print_ast_expr(to, expr);
    char *own = isl_printer_get_str(to);
    char *ret = hone_pool_strdup(p->model->in->pool, own ? own : "0");
    free(own);
    isl_printer_free(to);
    isl_ast_expr_free(expr);
    return ret;
}

static void print_node(struct printer *p, isl_ast_node *node);

static bool is_name(const char *text)
{
    while (hone_is_word_char(*text))
        text++;
    return *text == '\0';
}

/* S2(c0, c1) becomes the statement's text with its counters replaced. */
static void print_statement(struct printer *p, isl_ast_node *node)
{
    isl_ast_expr *call = isl_ast_node_user_get_expr(node);
    isl_ast_expr *callee = isl_ast_expr_op_get_arg(call, 0);
    isl_id *id = isl_ast_expr_get_id(callee);
    size_t which = id ? strtoul(isl_id_get_name(id) + 1, NULL, 10) : 0;
    const struct hone_scop_statement *s = &p->model->scop->statements[which];
    const struct hone_c_tree *tree = p->model->in->tree;
    struct hone_c_edits edits;
    hone_c_edits_init(&edits, tree);
    for (size_t i = 0; i < s->depth; i++) {
        const char *value = expr_text(p, isl_ast_expr_op_get_arg(call, (int)i + 1));
        if (!is_name(value))
            value = hone_pool_printf(p->model->in->pool, "(%s)", value);
        if (strcmp(value, s->loops[i]->var->name) != 0)
            hone_c_replace_refs(&edits, s->node, s->loops[i]->var, value);
    }
    hone_buf_str(&p->text,
                 hone_c_edit_text(&edits, s->node->begin, hone_c_stmt_end(tree, s->node)));
    hone_buf_str(&p->text, "\n");
    isl_id_free(id);
    isl_ast_expr_free(callee);
    isl_ast_expr_free(call);
}

static bool holds_loop(isl_ast_node *node)
{
    switch (isl_ast_node_get_type(node)) {
    case isl_ast_node_for:
        return true;
    case isl_ast_node_if: {
        isl_ast_node *then = isl_ast_node_if_get_then_node(node);
        isl_ast_node *otherwise = isl_ast_node_if_has_else_node(node) == isl_bool_true
                                      ? isl_ast_node_if_get_else_node(node)
                                      : NULL;
        bool ret = holds_loop(then) || (otherwise && holds_loop(otherwise));
        isl_ast_node_free(then);
        isl_ast_node_free(otherwise);
        return ret;
    }
    case isl_ast_node_block: {
        isl_ast_node_list *list = isl_ast_node_block_get_children(node);
        bool ret = false;
        for (int i = 0; i < (int)isl_ast_node_list_n_ast_node(list) && !ret; i++) {
            isl_ast_node *child = isl_ast_node_list_get_ast_node(list, i);
            ret = holds_loop(child);
            isl_ast_node_free(child);
        }
        isl_ast_node_list_free(list);
        return ret;
    }
    case isl_ast_node_mark:
    case isl_ast_node_user:
    case isl_ast_node_error:
    default:
        return false;
    }
}

static void print_pragma(struct printer *p, isl_ast_node *node, bool is_inner,
                         const char *condition, const char *name, const char *from)
{
    if (!is_marked_free(node))
        return;
    bool is_shared = !p->is_shared;
    if (!is_shared && !is_inner)
        return;
    hone_buf_str(&p->text, "#pragma omp");
    if (is_shared)
        hone_buf_str(&p->text, " parallel for");
    if (is_inner)
        hone_buf_str(&p->text, " simd");
    const char *bound = strchr(condition, '<');
    if (is_shared && bound && strncmp(condition, name, strlen(name)) == 0)
        hone_buf_printf(&p->text, " if((%s) - (%s) >= %d)", bound + (bound[1] == '=' ? 3 : 2), from,
                        is_inner ? FEW_PLAIN : FEW);
    hone_buf_str(&p->text, "\n");
    p->result->n_threaded += is_shared;
    p->result->n_vector += is_inner;
}

static void print_for(struct printer *p, isl_ast_node *node)
{
    isl_ast_node *body = isl_ast_node_for_get_body(node);
    const char *name = expr_text(p, isl_ast_node_for_get_iterator(node));
    const char *from = expr_text(p, isl_ast_node_for_get_init(node));
    if (isl_ast_node_for_is_degenerate(node) == isl_bool_true) {
        hone_buf_printf(&p->text, "{\nconst int64_t %s = %s;\n", name, from);
        print_node(p, body);
        hone_buf_str(&p->text, "}\n");
    } else {
        const char *condition = expr_text(p, isl_ast_node_for_get_cond(node));
        const char *step = expr_text(p, isl_ast_node_for_get_inc(node));
        bool was_shared = p->is_shared;
        print_pragma(p, node, !holds_loop(body), condition, name, from);
        p->is_shared = p->is_shared || is_marked_free(node);
        hone_buf_printf(&p->text, "for (int64_t %s = %s; %s; %s += %s) {\n", name, from, condition,
                        name, step);
        print_node(p, body);
        hone_buf_str(&p->text, "}\n");
        p->is_shared = was_shared;
    }
    isl_ast_node_free(body);
}

static void print_if(struct printer *p, isl_ast_node *node)
{
    isl_ast_node *then = isl_ast_node_if_get_then_node(node);
    hone_buf_printf(&p->text, "if (%s) {\n", expr_text(p, isl_ast_node_if_get_cond(node)));
    print_node(p, then);
    isl_ast_node_free(then);
    if (isl_ast_node_if_has_else_node(node) == isl_bool_true) {
        isl_ast_node *otherwise = isl_ast_node_if_get_else_node(node);
        hone_buf_str(&p->text, "} else {\n");
        print_node(p, otherwise);
        isl_ast_node_free(otherwise);
    }
    hone_buf_str(&p->text, "}\n");
}

static void print_node(struct printer *p, isl_ast_node *node)
{
    switch (isl_ast_node_get_type(node)) {
    case isl_ast_node_for:
        print_for(p, node);
        return;
    case isl_ast_node_if:
        print_if(p, node);
        return;
    case isl_ast_node_user:
        print_statement(p, node);
        return;
    case isl_ast_node_block: {
        isl_ast_node_list *list = isl_ast_node_block_get_children(node);
        for (int i = 0; i < (int)isl_ast_node_list_n_ast_node(list); i++) {
            isl_ast_node *child = isl_ast_node_list_get_ast_node(list, i);
            print_node(p, child);
            isl_ast_node_free(child);
        }
        isl_ast_node_list_free(list);
        return;
    }
    case isl_ast_node_mark:
    case isl_ast_node_error:
    default:
        p->text.limit = 0; /* nothing of this kind is asked for; the text fails */
    }
}

/* Counters are named after those of the source where a depth has one name for all statements. */
static isl_ast_build *name_counters(const struct model *m, isl_ast_build *build)
{
    isl_id_list *names = isl_id_list_alloc(m->ctx, 8);
    for (int i = 0; i < 2 * HONE_SCOP_MAX_DEPTH; i++) {
        const char *name = hone_fresh_name(m->in, hone_pool_printf(m->in->pool, "t%d", i));
        names = isl_id_list_add(names, isl_id_alloc(m->ctx, name, NULL));
    }
    return isl_ast_build_set_iterators(build, names);
}

static bool print_schedule(struct printer *p, isl_schedule *schedule)
{
    const struct model *m = p->model;
    isl_ast_build *build = isl_ast_build_alloc(m->ctx);
    build = isl_ast_build_set_before_each_for(build, before_loop, p);
    build = name_counters(m, build);
    isl_ast_node *tree = isl_ast_build_node_from_schedule(build, schedule);
    bool is_good = tree != NULL && isl_ctx_last_error(m->ctx) == isl_error_none;
    if (is_good)
        print_node(p, tree);
    isl_ast_node_free(tree);
    isl_ast_build_free(build);
    return is_good && hone_buf_check(&p->text, NULL) == 0;
}

static const struct {
    const char *call, *definition;
} helpers[] = {
    {"least_of(", "static inline int64_t least_of(int64_t a, int64_t b)\n{\n"
                  "    return a < b ? a : b;\n}\n\n"},
    {"greatest_of(", "static inline int64_t greatest_of(int64_t a, int64_t b)\n{\n"
                     "    return a > b ? a : b;\n}\n\n"},
    {"floor_div(", "static inline int64_t floor_div(int64_t a, int64_t b)\n{\n"
                   "    return (a < 0 ? a - b + 1 : a) / b;\n}\n\n"},
};

static const char *helpers_of(const struct hone_coder_input *in, const char *text)
{
    const char *ret = "";
    for (size_t i = 0; i < HONE_COUNTOF(helpers); i++)
        if (strstr(text, helpers[i].call) && !strstr(in->tree->source, helpers[i].call))
            ret = hone_pool_printf(in->pool, "%s%s", ret, helpers[i].definition);
    return ret;
}

static bool order_of(const struct hone_coder_input *in, const struct hone_scop *scop,
                     enum hone_order order, struct hone_order_result *ret)
{
    static isl_schedule_node *(*const changes[])(isl_schedule_node *, void *) = {
        [HONE_ORDER_VECTOR] = reorder, [HONE_ORDER_TILES] = block};
    struct model model;
    bool is_good = open_model(&model, in, scop);
    struct change change = {.model = &model};
    struct printer printer = {.model = &model,
                              .result = ret,
                              .text = {.limit = HONE_LIMIT_SOURCE_BYTES},
                              .depends = model.depends};
    isl_schedule *schedule = is_good ? schedule_of(&model, order) : NULL;
    *ret = (struct hone_order_result){.before = ""};
    if (schedule)
        schedule = isl_schedule_map_schedule_node_bottom_up(schedule, changes[order], &change);
    bool is_other = order != HONE_ORDER_VECTOR || !change.is_skewed;
    if (schedule && !is_other)
        schedule = isl_schedule_free(schedule);
    if (schedule && print_schedule(&printer, schedule)) {
        HONE_AUTOFREE char *text = hone_buf_steal(&printer.text);
        ret->text = hone_pool_strdup(in->pool, text);
        ret->before = helpers_of(in, text);
        ret->is_skewed = change.is_skewed;
        ret->is_strided = order == HONE_ORDER_VECTOR && change.strides > strides_as_written(&model);
    }
    hone_buf_done(&printer.text);
    close_model(&model);
    return ret->text != NULL;
}

bool hone_order_of(const struct hone_coder_input *in, const struct hone_scop *scop,
                   enum hone_order order, struct hone_order_result *ret)
{
    bool is_good = order_of(in, scop, order, ret);
    if (is_good && ret->n_threaded == 0 && scop->cut) /* iterations beside the one in the way */
        is_good = order_of(in, scop->cut, order, ret);
    return is_good;
}
