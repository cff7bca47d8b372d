/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/planner/archive.h"

#include <string.h>

static const struct hone_archive_axis
    cpu[HONE_ARCHIVE_AXES] = {{"threads", HONE_F_IS_THREADED, {1}},
                              {"vectors", HONE_F_IS_SIMD, {1}},
                              {"loops", HONE_F_LOOP_DEPTH, {2, 3, 4, 6}},
                              {"passes", HONE_F_PASSES, {1, 2, 4}}},
    cuda[HONE_ARCHIVE_AXES] = {{"registers", HONE_F_REGISTERS, {33, 65, 129}},
                               {"shared", HONE_F_SHARED, {1, 2, 3}},
                               {"traffic", HONE_F_TRAFFIC_RATIO, {1.25, 2, 4, 16}},
                               {"passes", HONE_F_PASSES, {1, 2, 4}}};

static int bin_of(const struct hone_archive_axis *axis, const struct hone_node *node)
{
    const struct hone_feature *f = &node->features.v[axis->feature];
    int bin = 1;
    if (!f->is_present)
        return 0;
    for (size_t i = 0; i < HONE_COUNTOF(axis->edges) && axis->edges[i] > 0; i++)
        bin += f->value >= axis->edges[i];
    return bin;
}

static void place(const struct hone_archive_axis *axes, const struct hone_node *node,
                  int ret[HONE_ARCHIVE_AXES])
{
    for (size_t i = 0; i < HONE_ARCHIVE_AXES; i++)
        ret[i] = bin_of(&axes[i], node);
}

static size_t find(const struct hone_archive *a, const int bins[HONE_ARCHIVE_AXES])
{
    for (size_t i = 0; i < a->n; i++)
        if (memcmp(a->cells[i].bins, bins, sizeof(a->cells[i].bins)) == 0)
            return i;
    return HONE_ARCHIVE_CELLS;
}

/* What a longer look agreed with stands before what was screened; the older of two equals stays. */
static bool is_before(const struct hone_node *a, const struct hone_node *b)
{
    if (a->is_decided != b->is_decided)
        return a->is_decided;
    return hone_node_gain(b, a) > 0;
}

static void add(struct hone_archive *a, const struct hone_tree *t, const struct hone_node *node)
{
    int bins[HONE_ARCHIVE_AXES];
    place(a->axes, node, bins);
    size_t at = find(a, bins);
    if (at == HONE_ARCHIVE_CELLS) {
        struct hone_archive_cell *c = &a->cells[a->n++];
        *c = (struct hone_archive_cell){.node = node->index, .n_versions = 1};
        memcpy(c->bins, bins, sizeof(bins));
        return;
    }
    struct hone_archive_cell *c = &a->cells[at];
    c->n_versions++;
    if (is_before(node, t->nodes[c->node]))
        c->node = node->index;
}

void hone_archive_of(const struct hone_tree *t, struct hone_archive *ret)
{
    bool is_cuda = t->n_nodes > 0 && t->nodes[0]->features.v[HONE_F_KERNELS].is_present;
    ret->axes = is_cuda ? cuda : cpu;
    ret->n = 0;
    for (int i = 0; i < t->n_nodes; i++)
        if (!t->nodes[i]->is_refuted)
            add(ret, t, t->nodes[i]);
}

void hone_archive_fill(struct hone_policy_ctx *ctx)
{
    for (int i = 0; i < ctx->tree->n_nodes; i++)
        if (!ctx->tree->nodes[i]->is_expanded)
            ctx->expand(ctx->expand_arg, ctx->tree->nodes[i]);
}

size_t hone_archive_cell_of(const struct hone_archive *a, const struct hone_node *node)
{
    int bins[HONE_ARCHIVE_AXES];
    place(a->axes, node, bins);
    return find(a, bins);
}

static const char *bin_words(const struct hone_archive_axis *axis, int bin, struct hone_pool *pool)
{
    if (bin == 0)
        return "unknown";
    if (bin == 1)
        return hone_pool_printf(pool, "<%g", axis->edges[0]);
    if (bin == HONE_ARCHIVE_BINS - 1 || !(axis->edges[bin - 1] > 0))
        return hone_pool_printf(pool, ">=%g", axis->edges[bin - 2]);
    return hone_pool_printf(pool, "%g..%g", axis->edges[bin - 2], axis->edges[bin - 1]);
}

const char *hone_archive_words(const struct hone_archive *a, const struct hone_archive_cell *cell,
                               struct hone_pool *pool)
{
    const char *out = "";
    for (size_t i = 0; i < HONE_ARCHIVE_AXES; i++)
        out = hone_pool_printf(pool, "%s%s%s %s", out, i ? ", " : "", a->axes[i].name,
                               bin_words(&a->axes[i], cell->bins[i], pool));
    return out;
}
