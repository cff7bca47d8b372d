/* SPDX-License-Identifier: Apache-2.0 */
/* The tree of versions: looks at some of the sizes and looks at all of them. */
#include "tests/unit/unit.h"

#include "agents/planner/planner.h"
#include "agents/planner/tree.h"
#include "agents/coder/history_context.h"

static struct hone_node *add(struct hone_tree *t, int parent, const char *source, double screened)
{
    struct hone_node *n = hone_tree_add(t, parent, source, NULL, screened, 0.01);
    n->basis = (struct hone_basis){"screened", 2, 3};
    hone_node_keep_look(n);
    hone_tree_update_best(t);
    return n;
}

static void decide(struct hone_tree *t, struct hone_node *n, double value)
{
    n->value = value;
    n->basis = (struct hone_basis){"decided", 3, 3};
    n->is_decided = true;
    hone_node_keep_look(n);
    hone_tree_update_best(t);
}

START_TEST(versions_are_compared_on_one_footing)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    HONE_AUTOFREE struct hone_tree *t = hone_calloc(1, sizeof(*t));
    hone_tree_init(t, pool);
    add(t, HONE_NO_NODE, "naive", 0);
    struct hone_node *first = add(t, 0, "first", 7.0);
    ck_assert_int_eq(t->best, first->index);
    decide(t, first, 5.5); /* the size that was left out is less in need */
    ck_assert_double_eq_tol(hone_node_corrected_value(t, first), 7.0,
                            1e-12); /* no worse for the look */
    struct hone_node *worse = add(t, first->index, "worse", 6.6);
    ck_assert_int_eq(t->best, first->index); /* though 6.6 is more than 5.5 */
    ck_assert_double_eq_tol(hone_node_gain(first, worse), -0.4, 1e-12);
    struct hone_node *better = add(t, first->index, "better", 7.25);
    ck_assert_int_eq(t->best, better->index);
    ck_assert_double_eq_tol(hone_node_gain(first, better), 0.25, 1e-12);
    decide(t, better, 5.4); /* and now both are known on all */
    ck_assert_int_eq(t->best, first->index);
    ck_assert_double_eq_tol(hone_node_gain(first, better), -0.1, 1e-12);
    ck_assert_double_eq_tol(hone_node_gain(worse, better), 0.65, 1e-12);
    /* in the mean the longer look took 1.675 away: the two keep their order, 0.1 apart */
    ck_assert_double_eq_tol(hone_node_corrected_value(t, first), 7.175, 1e-12);
    ck_assert_double_eq_tol(hone_node_corrected_value(t, better), 7.075, 1e-12);
    ck_assert_double_eq_tol(hone_node_corrected_value(t, worse), 6.6, 1e-12);
    first->is_refuted = true;
    hone_tree_update_best(t);
    ck_assert_int_eq(t->best, better->index);
}
END_TEST

/* Without a look at some of the sizes the value is all there is. */
START_TEST(values_alone_are_compared_as_they_are)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    HONE_AUTOFREE struct hone_tree *t = hone_calloc(1, sizeof(*t));
    hone_tree_init(t, pool);
    struct hone_node *root = hone_tree_add(t, HONE_NO_NODE, "naive", NULL, 0, 0.01);
    struct hone_node *n = hone_tree_add(t, 0, "other", NULL, 1.5, 0.01);
    ck_assert_double_eq_tol(hone_node_gain(root, n), 1.5, 1e-12);
    struct hone_node *some = add(t, 0, "some", 1.2);
    ck_assert_double_eq_tol(hone_node_gain(n, some), -0.3, 1e-12);
    ck_assert_double_eq_tol(hone_node_corrected_value(t, n), 1.5, 1e-12);
    ck_assert_int_eq(t->best, n->index);
}
END_TEST

/* Tried while its answer is waited for, and gone without a trace when that is over. */
START_TEST(a_step_under_way_is_an_edge_without_an_end)
{
    struct hone_pool *pool = hone_pool_new();
    struct hone_tree t;
    hone_tree_init(&t, pool);
    hone_tree_add(&t, HONE_NO_NODE, "int a;", NULL, 0, 0.01);
    hone_tree_add(&t, 0, "int b;", NULL, 1, 0.01);
    const struct hone_edge_record first = {.parent = 1, .rewrite = "x", .anchor = "1"};
    const struct hone_edge_record second = {.parent = 1, .rewrite = "x", .anchor = "2"};
    const struct hone_edge_record done = {.parent = 0, .rewrite = "y", .child = 1};
    hone_tree_begin_step(&t, &first);
    hone_tree_begin_step(&t, &second);
    hone_tree_note_edge(&t, &done);
    ck_assert(hone_tree_was_tried(&t, 1, "x", "1", 0));
    ck_assert_int_eq(t.nodes[0]->n_under_way, 2);
    ck_assert_int_eq(t.nodes[1]->n_under_way, 2);
    ck_assert_int_eq(t.nodes[1]->n_visits, 1);
    ck_assert_ptr_null(hone_attempts_text(&t, 1, pool));
    hone_tree_end_step(&t, &first);
    ck_assert(!hone_tree_was_tried(&t, 1, "x", "1", 0));
    ck_assert(hone_tree_was_tried(&t, 1, "x", "2", 0));
    hone_tree_end_step(&t, &done); /* that one has an end: it stays */
    hone_tree_end_step(&t, &second);
    ck_assert_uint_eq(t.n_edges, 1);
    ck_assert_str_eq(t.edges[0].rewrite, "y");
    ck_assert_int_eq(t.nodes[0]->n_under_way + t.nodes[1]->n_under_way, 0);
    hone_pool_free(pool);
}
END_TEST

UNIT_MAIN("tree", versions_are_compared_on_one_footing, values_alone_are_compared_as_they_are,
          a_step_under_way_is_an_edge_without_an_end)
