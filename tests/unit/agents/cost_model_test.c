/* SPDX-License-Identifier: Apache-2.0 */
/* The cost model: what it learns, what it must not see, which steps it leaves out. */
#include "tests/unit/unit.h"

#include <math.h>
#include <string.h>

#include "agents/offline/cost_fit.h"
#include "agents/planner/policy.h"

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

/* Chance of a gain by `weight` with an error of 1: C08 and C04 50 %, C16 2.3 %. */
static size_t mark(double limit, struct hone_action actions[3])
{
    static const char *const ids[] = {"C08", "C16", "C04"};
    struct hone_cost_model m = {.error = 1};
    struct hone_node node = {.actions = actions, .n_actions = 3};
    m.weights[HONE_COST_TERMS + index_of("C16")] = -2;
    for (int i = 0; i < 3; i++)
        actions[i] = (struct hone_action){.strategy = hone_strategy_find("cpu", ids[i])};
    return hone_cost_mark(&m, limit, &node);
}

START_TEST(hopeless_steps_are_left_out)
{
    struct hone_action actions[3];
    ck_assert_uint_eq(mark(0, actions), 0);
    ck_assert_uint_eq(mark(0.02, actions), 0);
    ck_assert_double_eq_tol(actions[1].cost_log2, -2, 1e-9);
    ck_assert_uint_eq(mark(0.1, actions), 1);
    ck_assert(actions[1].is_left_out && !actions[0].is_left_out && !actions[2].is_left_out);
    ck_assert_uint_eq(mark(0.5, actions), 1); /* at the limit: not below it */
    ck_assert_uint_eq(mark(1, actions), 3);
}
END_TEST

static void expand(void *arg, struct hone_node *node)
{
    (void)arg;
    node->is_expanded = true;
}

struct rig {
    struct hone_pool *pool;
    struct hone_tree tree;
    struct hone_credit credit;
    struct hone_rewrite rewrites[3];
    struct hone_action actions[3];
    struct hone_policy_ctx ctx;
};

/* A root with three steps, of which the second is left out. */
static void open_rig(struct rig *r)
{
    static const char *const names[] = {"a", "b", "c"};
    *r = (struct rig){.pool = hone_pool_new()};
    hone_tree_init(&r->tree, r->pool);
    hone_credit_init(&r->credit);
    struct hone_node *root = hone_tree_add(&r->tree, HONE_NO_NODE, "int a;", "c0", 0, 0.01);
    hone_tree_update_best(&r->tree);
    mark(0.1, r->actions);
    for (int i = 0; i < 3; i++) {
        r->rewrites[i].name = names[i];
        r->actions[i].rewrite = &r->rewrites[i];
        r->actions[i].discount = 1;
    }
    root->actions = r->actions;
    root->n_actions = 3;
    root->is_expanded = true;
    r->ctx = (struct hone_policy_ctx){
        .tree = &r->tree, .credit = &r->credit, .expand = expand, .seed = 3};
}

static struct hone_action *taken(struct rig *r, const struct hone_policy *policy)
{
    struct hone_pick pick;
    if (!hone_policy_pick(policy, &r->ctx, &pick))
        return NULL;
    struct hone_action *a = &r->actions[pick.action];
    ck_assert(!a->is_tried);
    a->is_tried = true;
    return a;
}

START_TEST(every_policy_takes_them_last)
{
    for (size_t i = 0; i < hone_n_policies; i++)
        for (int64_t seed = 0; seed < 40; seed++) {
            struct rig r;
            open_rig(&r);
            r.ctx.seed = seed;
            const char *name = hone_policies[i]->name;
            for (int k = 0; k < 2; k++) {
                const struct hone_action *a = taken(&r, hone_policies[i]);
                ck_assert_msg(a && !a->is_left_out && !r.ctx.takes_left_out, "%s", name);
            }
            const struct hone_action *a = taken(&r, hone_policies[i]);
            ck_assert_msg(a && a->is_left_out && r.ctx.takes_left_out, "%s", name);
            ck_assert_msg(!taken(&r, hone_policies[i]), "%s", name);
            hone_pool_free(r.pool);
        }
}
END_TEST

START_TEST(what_the_user_favours_is_not_left_out)
{
    struct rig r;
    open_rig(&r);
    r.credit.rows[index_of("C16")].favour = 4;
    size_t n_before = 0;
    for (const struct hone_action *a; (a = taken(&r, &hone_policy_puct)) != NULL; n_before++)
        if (a->is_left_out)
            break;
    ck_assert_uint_lt(n_before, 3);
    ck_assert(!r.ctx.takes_left_out);
    hone_pool_free(r.pool);
}
END_TEST

START_TEST(a_record_brings_the_same_model_back)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_lattice **all = NULL;
    struct hone_cost_model m, again;
    struct hone_strs from;
    size_t n = 0;
    ck_assert_int_eq(hone_lattice_load_all("agents/offline/lattices", pool, &all, &n, NULL), 0);
    ck_assert_int_eq(hone_cost_fit_for(all, n, "mine", "softmax", "cpu", pool, &m, &from, NULL), 0);
    ck_assert_uint_ge(from.n, 4);
    for (size_t i = 0; i < from.n; i++)
        ck_assert_str_ne(from.v[i], "softmax"); /* its family */
    HONE_AUTOJSON struct hone_json *json = hone_cost_json(&m, &from);
    HONE_AUTOFREE char *text = hone_json_print(json);
    HONE_AUTOJSON struct hone_json *read = NULL;
    ck_assert_int_eq(hone_json_parse(text, strlen(text), &read, NULL), 0);
    ck_assert(hone_cost_read(read, "cpu", &again));
    ck_assert_int_eq(memcmp(&m, &again, sizeof(m)), 0);
    ck_assert_str_eq(hone_cost_words(0.0285, m.error, pool),
                     hone_pool_printf(pool,
                                      "left out by the cost model: predicted 1.02x, error "
                                      "%.2f log2",
                                      m.error));
    hone_json_set_f64(read, "error", 0);
    ck_assert(!hone_cost_read(read, "cpu", &again));
    ck_assert(!hone_cost_read(NULL, "cpu", &again));
    /* one kernel has no error of its own */
    ck_assert_int_eq(hone_cost_fit_for(all, 1, "mine", "mine", "cpu", pool, &m, &from, NULL),
                     HONE_E_NOT_FOUND);
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

UNIT_MAIN("cost_model", what_was_recorded_is_learnt, hopeless_steps_are_left_out,
          every_policy_takes_them_last, what_the_user_favours_is_not_left_out,
          a_record_brings_the_same_model_back, a_kernel_teaches_others_alone)
