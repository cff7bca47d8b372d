/* The tree of versions: looks at some of the sizes and looks at all of them on one footing. */
#include "tests/unit/unit.h"

#include "agents/planner.h"
#include "agents/tree.h"

static struct hone_node *add(struct hone_tree *t, int parent, const char *source, double screened)
{
    struct hone_node *n = hone_tree_add(t, parent, source, NULL, screened, 0.01);
    n->basis = (struct hone_basis){"screened", 2, 3};
    hone_tree_note_look(t, n);
    return n;
}

static void decide(struct hone_tree *t, struct hone_node *n, double value)
{
    n->value = value;
    n->basis = (struct hone_basis){"decided", 3, 3};
    n->is_decided = true;
    hone_tree_note_look(t, n);
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
    ck_assert_double_eq_tol(hone_node_standing(t, first), 7.0, 1e-12); /* no worse for the look */
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
    ck_assert_double_eq_tol(hone_node_standing(t, first), 7.175, 1e-12);
    ck_assert_double_eq_tol(hone_node_standing(t, better), 7.075, 1e-12);
    ck_assert_double_eq_tol(hone_node_standing(t, worse), 6.6, 1e-12);
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
    ck_assert_double_eq_tol(hone_node_standing(t, n), 1.5, 1e-12);
    ck_assert_int_eq(t->best, n->index);
}
END_TEST

UNIT_MAIN("tree", versions_are_compared_on_one_footing, values_alone_are_compared_as_they_are)
