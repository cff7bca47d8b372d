/* SPDX-License-Identifier: Apache-2.0 */
/* Orders of a run (order.h). isl's scheduler proposes bands of loops that may be swapped; within
 * each band hone chooses the order, or cuts it into blocks. Where that shortens no stride, the
 * counters as written are tried in other orders (order_loops.c). Where nothing is free for threads,
 * the same is done with statements cut where their accesses meet. */
#include "agents/polyhedral/order.h"

#include <isl/aff.h>
#include <isl/map.h>
#include <isl/options.h>
#include <isl/schedule_node.h>
#include <isl/set.h>
#include <isl/space.h>
#include <isl/val.h>
#include <string.h>

#include "agents/polyhedral/order_loops.h"
#include "agents/polyhedral/order_model.h"
#include "agents/polyhedral/order_print.h"

enum {
    MAX_MEMBERS = 4, /* of a band whose orders are all looked at */
    TILE = 32,
    STRIP = 64 /* neighbours in a block, where threads and vectors share a loop */
};

static isl_schedule *schedule_of(const struct hone_order_model *m, enum hone_order order)
{
    /* Loops of their own stay plain enough for other rules; blocks want them together. */
    isl_options_set_schedule_serialize_sccs(m->ctx, order != HONE_ORDER_TILES);
    isl_schedule_constraints *c = isl_schedule_constraints_on_domain(isl_union_set_copy(m->domain));
    c = isl_schedule_constraints_set_validity(c, isl_union_map_copy(m->needed));
    c = isl_schedule_constraints_set_coincidence(c, isl_union_map_copy(m->depends));
    c = isl_schedule_constraints_set_proximity(c, isl_union_map_copy(m->depends));
    return isl_schedule_constraints_compute_schedule(c);
}

/* ---- orders within a band ---- */

struct band {
    const struct hone_order_model *model;
    size_t n;
    isl_union_pw_aff *members[MAX_MEMBERS];
    isl_union_map *depends; /* those that the loops around leave to this band */
    int strides[MAX_MEMBERS];
    bool is_skewed; /* a step of a member is no step of one counter */
    bool is_for_rows;
};

static isl_union_map *still_equal(isl_union_map *depends, isl_union_pw_aff *member)
{
    isl_multi_union_pw_aff *one =
        isl_multi_union_pw_aff_from_union_pw_aff(isl_union_pw_aff_copy(member));
    return isl_union_map_eq_at_multi_union_pw_aff(depends, one);
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
        score += hone_order_move(hone_order_map(band->model, scop->places[i]), steps);
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
    return !band->is_for_rows && first_free(band, order) > 0 &&
           is_free(band->depends, band->members[order[band->n - 1]]);
}

/* How good an order is around its innermost loop. */
static int worth_around(const struct band *band, const size_t *order)
{
    if (band->is_for_rows)
        return band->strides[order[band->n - 2]];
    return wants_strip(band, order) ? 0 : -(int)first_free(band, order);
}

/* Best strides inside, then threads outermost (for rows: best strides around it), then the order
 * that it is in. Of two members and more. */
static void choose(const struct band *band, size_t best[MAX_MEMBERS])
{
    size_t order[MAX_MEMBERS] = {0, 1, 2, 3};
    int best_worth = -1000, best_around = -1000, worth[MAX_MEMBERS] = {0};
    for (size_t i = 0; i < band->n; i++)
        worth[i] = worth_inside(band, i);
    do {
        int here = worth[order[band->n - 1]];
        if (here < best_worth)
            continue;
        int around = worth_around(band, order);
        if (here > best_worth || around > best_around) {
            memcpy(best, order, sizeof order);
            best_worth = here;
            best_around = around;
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

static void open_band(struct band *band, const struct hone_order_model *model,
                      isl_schedule_node *node)
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
    const struct hone_order_model *model;
    int strides; /* of the innermost loops, as move_of counts */
    bool is_skewed, is_for_rows;
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
    band.is_for_rows = change->is_for_rows;
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
static int strides_as_written(const struct hone_order_model *m)
{
    int score = 0;
    for (size_t i = 0; i < m->scop->n; i++)
        if (m->scop->statements[i].depth > 0)
            score += hone_order_strides(m, i, m->scop->statements[i].depth - 1);
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

static bool order_of(const struct hone_coder_input *in, const struct hone_scop *scop,
                     enum hone_order order, struct hone_order_result *ret)
{
    static isl_schedule_node *(*const changes[])(isl_schedule_node *, void *) = {
        [HONE_ORDER_VECTOR] = reorder, [HONE_ORDER_ROWS] = reorder, [HONE_ORDER_TILES] = block};
    struct hone_order_model model;
    *ret = (struct hone_order_result){.before = ""};
    bool is_good = hone_order_open(&model, in, scop);
    struct change change = {.model = &model, .is_for_rows = order == HONE_ORDER_ROWS};
    isl_schedule *schedule = is_good ? schedule_of(&model, order) : NULL;
    if (schedule)
        schedule = isl_schedule_map_schedule_node_bottom_up(schedule, changes[order], &change);
    if (schedule && order != HONE_ORDER_TILES && change.is_skewed)
        schedule = isl_schedule_free(schedule);
    int written = schedule && order != HONE_ORDER_TILES ? strides_as_written(&model) : 0;
    if (schedule && hone_order_print_schedule(&model, schedule, !change.is_for_rows, ret)) {
        ret->is_skewed = change.is_skewed;
        ret->is_strided = order != HONE_ORDER_TILES && change.strides > written;
    }
    hone_order_close(&model);
    return ret->text != NULL;
}

bool hone_order_of(const struct hone_coder_input *in, const struct hone_scop *scop,
                   enum hone_order order, struct hone_order_result *ret)
{
    struct hone_order_result other;
    bool is_good = order_of(in, scop, order, ret);
    size_t n_free = order == HONE_ORDER_ROWS ? ret->n_vector : ret->n_threaded;
    if (is_good && n_free == 0 && scop->cut) /* iterations beside the one in the way */
        is_good = order_of(in, scop->cut, order, ret);
    if (order == HONE_ORDER_VECTOR && (!is_good || !ret->is_strided) &&
        hone_order_loops(in, scop, &other)) {
        *ret = other;
        is_good = true;
    }
    return is_good;
}
