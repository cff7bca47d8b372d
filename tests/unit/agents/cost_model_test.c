/* SPDX-License-Identifier: Apache-2.0 */
/* The cost model: what it learns, what it must not see, which steps it drops. */
#include "tests/unit/unit.h"

#include <math.h>
#include <string.h>

#include "agents/offline/cost_fit.h"

static size_t index_of(const char *id)
{
    return hone_strategy_index(hone_strategy_find("cpu", id));
}

START_TEST(what_was_recorded_is_learnt)
{
    enum { N = 400 };
    static struct hone_cost_edge edges[N];
    struct hone_cost_model m;
    const bool uses[2] = {true, false};
    for (size_t i = 0; i < N; i++) { /* kernel 1 says the opposite and is not used */
        bool is_good = i % 2;
        edges[i] = (struct hone_cost_edge){.kernel = i % 4 > 1,
                                           .strategy = index_of(is_good ? "C08" : "C16"),
                                           .terms = {1, 0.5},
                                           .weight = 1};
        edges[i].gain = (is_good ? 2.0 : -1.0) * (edges[i].kernel ? -1 : 1);
    }
    hone_cost_fit(edges, N, uses, &m);
    const double terms[HONE_COST_TERMS] = {1, 0.5};
    ck_assert_uint_eq(m.n_edges, N / 2);
    ck_assert_double_eq_tol(hone_cost_predict(&m, index_of("C08"), terms), 2, 0.05);
    ck_assert_double_eq_tol(hone_cost_predict(&m, index_of("C16"), terms), -1, 0.05);
    m.error = 1;
    ck_assert_double_eq_tol(hone_cost_chance(&m, index_of("C08"), terms), 0.977, 0.01);
    ck_assert_double_eq_tol(hone_cost_chance(&m, index_of("C16"), terms), 0.159, 0.01);
    hone_cost_fit(edges, 0, uses, &m);
    ck_assert_double_eq_tol(hone_cost_chance(&m, 0, terms), 0.5, 1e-9); /* knows nothing */
}
END_TEST

START_TEST(hopeless_steps_are_dropped_but_never_all)
{
    struct hone_cost_model m = {.error = 1};
    struct hone_node node = {.n_findings = 0};
    static const char *const ids[] = {"C08", "C16", "C04"};
    struct hone_action actions[3];
    m.weights[HONE_COST_TERMS + index_of("C16")] = -2; /* 2.3 % */
    for (int i = 0; i < 3; i++)
        actions[i] = (struct hone_action){.strategy = hone_strategy_find("cpu", ids[i])};
    ck_assert_uint_eq(hone_cost_drop(&m, 0.02, &node, actions, 3), 3);
    ck_assert_uint_eq(hone_cost_drop(&m, 0.1, &node, actions, 3), 2);
    ck_assert_str_eq(actions[0].strategy->id, "C08");
    ck_assert_str_eq(actions[1].strategy->id, "C04");
    ck_assert_uint_eq(hone_cost_drop(&m, 0.9, &node, actions, 2), 2);
    ck_assert_uint_eq(hone_cost_drop(&m, 0.9, &node, actions, 0), 0);
}
END_TEST

/* Whatever is recorded of a kernel and its family, the model that plays it is the same. */
START_TEST(a_kernel_teaches_others_alone)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_lattice **all = NULL;
    const struct hone_cost_model **before, **after;
    struct hone_cost_score score, changed;
    size_t n = 0, own = 0;
    ck_assert_int_eq(hone_lattice_load_all("agents/offline/lattices", pool, &all, &n, NULL), 0);
    while (strcmp(all[own]->task, "softmax") != 0 || strcmp(all[own]->target, "cpu") != 0)
        own++;
    hone_cost_fit_all(all, n, pool, &before, 0.4, &score);
    for (unsigned s = 1; s < 1u << all[own]->n_strategies; s++)
        for (size_t i = 0; i < all[own]->states[s].n; i++)
            all[own]->states[s].ratio[i] *= s % 3 ? 10 : 0.1;
    hone_cost_fit_all(all, n, pool, &after, 0.4, &changed);
    for (size_t i = 0; i < n; i++) {
        bool is_same = memcmp(before[i], after[i], sizeof(*before[i])) == 0;
        bool is_taught = strcmp(all[i]->target, "cpu") == 0 && i != own;
        ck_assert_msg(is_same == !is_taught, "%s %s", all[i]->task, all[i]->target);
    }
    ck_assert_double_gt(changed.error, score.error);
    ck_assert_double_gt(score.dropped, 0);
    ck_assert_double_lt(score.error, score.error_catalogue);
}
END_TEST

UNIT_MAIN("cost_model", what_was_recorded_is_learnt, hopeless_steps_are_dropped_but_never_all,
          a_kernel_teaches_others_alone)
