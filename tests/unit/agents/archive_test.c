/* SPDX-License-Identifier: Apache-2.0 */
/* The archive of good versions that differ: which version stands for a cell, what merges are drawn
 * from it, where a policy starts again. */
#include "tests/unit/unit.h"

#include <string.h>

#include "agents/planner/merge.h"

struct fixture {
    struct hone_pool *pool;
    struct hone_tree *tree;
    struct hone_archive *archive;
    int n_expanded;
};

static void begin(struct fixture *f)
{
    *f = (struct fixture){.pool = hone_pool_new()};
    f->tree = hone_pool_alloc(f->pool, sizeof(*f->tree));
    f->archive = hone_pool_alloc(f->pool, sizeof(*f->archive));
    hone_tree_init(f->tree, f->pool);
}

static void set(struct hone_node *n, enum hone_feature_id id, double value)
{
    n->features.v[id] = (struct hone_feature){true, value};
}

/* A version by a step of that strategy; NULL: the root. */
static struct hone_node *add(struct fixture *f, int parent, const char *strategy, double value)
{
    struct hone_tree *t = f->tree;
    const char *source = hone_pool_printf(f->pool, "version %d", t->n_nodes);
    struct hone_node *n = hone_tree_add(t, parent, source, NULL, value, 0.01);
    n->rewrite = "r";
    n->is_expanded = true;
    if (strategy) {
        const struct hone_edge_record e = {.parent = parent,
                                           .child = n->index,
                                           .rewrite = "r",
                                           .strategy = hone_strategy_find("cpu", strategy)};
        ck_assert_ptr_nonnull(e.strategy);
        hone_tree_note_edge(t, &e);
    }
    set(n, HONE_F_IS_THREADED, 0);
    set(n, HONE_F_IS_SIMD, 0);
    set(n, HONE_F_LOOP_DEPTH, 2);
    set(n, HONE_F_PASSES, 0);
    return n;
}

static const struct hone_archive_cell *cell(struct fixture *f, const struct hone_node *n)
{
    hone_archive_of(f->tree, f->archive);
    size_t at = hone_archive_cell_of(f->archive, n);
    return at < HONE_ARCHIVE_CELLS ? &f->archive->cells[at] : NULL;
}

START_TEST(a_cell_keeps_its_best)
{
    struct fixture f;
    begin(&f);
    struct hone_node *root = add(&f, HONE_NO_NODE, NULL, 0), *threads = add(&f, 0, "C08", 1),
                     *better = add(&f, 0, "C08", 2), *simd = add(&f, 0, "C04", 0.5);
    set(threads, HONE_F_IS_THREADED, 1);
    set(better, HONE_F_IS_THREADED, 1);
    set(simd, HONE_F_IS_SIMD, 1);
    ck_assert_int_eq(cell(&f, threads)->node, better->index);
    ck_assert_int_eq(cell(&f, threads)->n_versions, 2);
    ck_assert_int_eq(cell(&f, simd)->node, simd->index);
    ck_assert_int_eq(cell(&f, root)->node, 0);
    ck_assert_uint_eq(f.archive->n, 3);
    threads->is_decided = true; /* before what was screened alone */
    ck_assert_int_eq(cell(&f, better)->node, threads->index);
    better->is_decided = true;
    ck_assert_int_eq(cell(&f, better)->node, better->index);
    better->is_refuted = true;
    ck_assert_int_eq(cell(&f, better)->node, threads->index);
    threads->is_refuted = true;
    ck_assert_ptr_null(cell(&f, threads));
    ck_assert_uint_eq(f.archive->n, 2);
    hone_pool_free(f.pool);
}
END_TEST

START_TEST(an_unknown_feature_is_a_bin)
{
    struct fixture f;
    begin(&f);
    struct hone_node *root = add(&f, HONE_NO_NODE, NULL, 0), *other = add(&f, 0, "C08", 1);
    other->features.v[HONE_F_PASSES].is_present = false;
    ck_assert_int_eq(cell(&f, root)->node, 0);
    ck_assert_int_eq(cell(&f, other)->node, 1);
    ck_assert_str_eq(hone_archive_words(f.archive, cell(&f, other), f.pool),
                     "threads <1, vectors <1, loops 2..3, passes unknown");
    set(other, HONE_F_PASSES, 4);
    set(other, HONE_F_LOOP_DEPTH, 9);
    ck_assert_str_eq(hone_archive_words(f.archive, cell(&f, other), f.pool),
                     "threads <1, vectors <1, loops >=6, passes >=4");
    hone_pool_free(f.pool);
}
END_TEST

START_TEST(cuda_has_axes_of_its_own)
{
    struct fixture f;
    begin(&f);
    struct hone_node *root = add(&f, HONE_NO_NODE, NULL, 0), *tile = add(&f, 0, NULL, 1);
    set(root, HONE_F_KERNELS, 1);
    set(root, HONE_F_REGISTERS, 32);
    set(tile, HONE_F_REGISTERS, 33);
    set(tile, HONE_F_SHARED, 2);
    ck_assert_str_eq(hone_archive_words(f.archive, cell(&f, tile), f.pool),
                     "registers 33..65, shared 2..3, traffic unknown, passes <1");
    ck_assert_int_eq(cell(&f, root)->node, 0);
    hone_pool_free(f.pool);
}
END_TEST

/* Root - threads - tile, and root - simd: simd may take over either, they may take over simd. */
START_TEST(merges_come_from_other_cells)
{
    struct fixture f;
    struct hone_merge m[HONE_MERGES];
    begin(&f);
    add(&f, HONE_NO_NODE, NULL, 0);
    struct hone_node *threads = add(&f, 0, "C08", 1), *tile = add(&f, 1, "C01", 2),
                     *simd = add(&f, 0, "C04", 0.5);
    set(threads, HONE_F_IS_THREADED, 1);
    set(tile, HONE_F_IS_THREADED, 1);
    set(tile, HONE_F_LOOP_DEPTH, 4);
    set(simd, HONE_F_IS_SIMD, 1);
    cell(&f, simd);
    ck_assert_uint_eq(hone_merges_across(f.tree, f.archive, tile->index, m, 0), 1);
    ck_assert_int_eq(m[0].sibling, simd->index); /* threads is on its way */
    ck_assert_uint_eq(hone_merges_across(f.tree, f.archive, simd->index, m, 0), 2);
    ck_assert_uint_eq(hone_merges_of(f.tree, tile->index, m), 0); /* it has no siblings */
    ck_assert_uint_eq(hone_merges_across(f.tree, f.archive, 0, m, 0), 0);
    struct hone_node *both = add(&f, 1, "C04", 1.5); /* the same strategy by another way */
    set(both, HONE_F_IS_THREADED, 1);
    set(both, HONE_F_IS_SIMD, 1);
    cell(&f, both);
    ck_assert_uint_eq(hone_merges_across(f.tree, f.archive, both->index, m, 0), 1);
    ck_assert_int_eq(m[0].sibling, tile->index);
    simd->is_refuted = true;
    cell(&f, tile);
    ck_assert_uint_eq(hone_merges_across(f.tree, f.archive, tile->index, m, 0), 1);
    ck_assert_int_eq(m[0].sibling, both->index);
    hone_pool_free(f.pool);
}
END_TEST

static void expand(void *arg, struct hone_node *node)
{
    struct fixture *f = arg;
    f->n_expanded++;
    node->is_expanded = true;
}

/* Versions 0 and 1 have a step each, the best stands in a cell of its own. */
START_TEST(a_plateau_starts_elsewhere)
{
    struct fixture f;
    static const struct hone_rewrite rewrite = {.name = "r", .strategy = "C03"};
    begin(&f);
    const struct hone_policy *policy = hone_policy_find("archive");
    ck_assert_ptr_nonnull(policy);
    add(&f, HONE_NO_NODE, NULL, 0);
    struct hone_node *best = add(&f, 0, "C08", 3), *other = add(&f, 0, "C04", 0.1);
    set(best, HONE_F_IS_THREADED, 1);
    set(other, HONE_F_IS_SIMD, 1);
    for (int i = 1; i < 3; i++) {
        struct hone_action *a = hone_pool_alloc(f.pool, sizeof(*a));
        *a = (struct hone_action){.rewrite = &rewrite,
                                  .strategy = hone_strategy_find("cpu", "C03"),
                                  .prior = 1,
                                  .utility = i == 1 ? 1 : 0.01,
                                  .p_impl = 1,
                                  .discount = 1,
                                  .boost = 1};
        f.tree->nodes[i]->actions = a;
        f.tree->nodes[i]->n_actions = 1;
    }
    hone_tree_update_best(f.tree);
    f.tree->nodes[2]->is_expanded = false;
    struct hone_policy_ctx ctx = {
        .tree = f.tree, .expand = expand, .expand_arg = &f, .seed = 3, .counter = 100};
    struct hone_pick pick, again;
    f.tree->n_since_best = 6;
    ck_assert(policy->pick(&ctx, &pick));
    ck_assert_int_eq(pick.node, other->index);
    ck_assert_int_eq(f.n_expanded, 1);
    ck_assert_double_eq_tol(pick.propensity, 1, 1e-9);
    ctx.counter = 100;
    ck_assert(policy->pick(&ctx, &again));
    ck_assert_int_eq(again.node, pick.node);
    f.tree->n_since_best = 7; /* every second one is puct's */
    ctx.counter = 100;
    ck_assert(policy->pick(&ctx, &pick));
    ck_assert(hone_policy_puct.pick(&ctx, &again));
    ck_assert_int_eq(pick.node, again.node);
    other->actions[0].is_tried = true; /* nothing elsewhere: puct again */
    f.tree->n_since_best = 8;
    ck_assert(policy->pick(&ctx, &pick));
    ck_assert_int_eq(pick.node, best->index);
    hone_pool_free(f.pool);
}
END_TEST

UNIT_MAIN("archive", a_cell_keeps_its_best, an_unknown_feature_is_a_bin, cuda_has_axes_of_its_own,
          merges_come_from_other_cells, a_plateau_starts_elsewhere)
