/* SPDX-License-Identifier: Apache-2.0 */
/* Lattices and planners: templates resolve, files go round, policies find known optima, and each
 * outcome teaches what it should. */
#include "tests/unit/unit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "agents/offline/lattice.h"
#include "agents/planner/planner.h"
#include "agents/offline/prior_fit.h"
#include "agents/offline/sim.h"
#include "agents/offline/taught.h"
#include "workspace/base/limits.h"

static const char template[] = "/* A template.\n"
                               " * lattice task sum\n"
                               " * lattice strategy S_A C04\n"
                               " * lattice strategy S_B C08\n"
                               " */\n"
                               "#pragma hone tune(S_A: 0, 1)\n"
                               "#pragma hone tune(S_B: 0, 1) where(!S_B || S_A)\n"
                               "#if S_A && S_B\n"
                               "both\n"
                               "#elif S_A\n"
                               "a\n"
                               "#if S_B\n"
                               "never\n"
                               "#endif\n"
                               "#else\n"
                               "none\n"
                               "#endif\n"
                               "end\n";

START_TEST(a_template_resolves)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_lattice *l = NULL;
    struct hone_err err = HONE_ERR_INIT;
    const char *text = NULL;
    ck_assert_msg(hone_lattice_of_template(template, "t", pool, &l, &err) == 0, "%s", err.message);
    ck_assert_str_eq(l->task, "sum");
    ck_assert_uint_eq(l->n_strategies, 2);
    ck_assert(l->states[0].is_legal && l->states[1].is_legal && l->states[3].is_legal);
    ck_assert(!l->states[2].is_legal);
    static const char *const want[] = {"\nnone\nend\n", "\na\nend\n", NULL, "\nboth\nend\n"};
    for (unsigned s = 0; s < 4; s++) {
        if (!want[s])
            continue;
        ck_assert_int_eq(hone_lattice_source(l, template, s, pool, &text, &err), 0);
        ck_assert_str_eq(text, want[s]);
    }
}
END_TEST

static const struct {
    const char *text, *part;
} bad_templates[] = {
    {"/* lattice */", "lattice task"},
    {" * lattice task sum\n", "lattice strategy"},
    {" * lattice task sum\n * lattice strategy S_A\n", "NAME ID"},
    {" * lattice task sum\n * lattice strategy S_A X99\n", "catalogue"},
    {" * lattice task sum\n * lattice strategy S_A C04\n", "one each"},
};

START_TEST(bad_templates_are_refused)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    for (size_t i = 0; i < HONE_COUNTOF(bad_templates); i++) {
        struct hone_lattice *l = NULL;
        struct hone_err err = HONE_ERR_INIT;
        ck_assert_int_eq(hone_lattice_of_template(bad_templates[i].text, "t", pool, &l, &err),
                         HONE_E_ARG);
        ck_assert_msg(strstr(err.message, bad_templates[i].part), "%s", err.message);
    }
}
END_TEST

/* ---- lattices made here ---- */

enum { N = 4 };
static const char *const ids[N] = {"C04", "C08", "C16", "C03"};
static const char *const names[N] = {"S_SIMD", "S_THREADS", "S_UNROLL", "S_ACC"};

/* gain(state) in log2; NaN: wrong. */
static struct hone_lattice *make(struct hone_pool *pool, double (*gain)(unsigned state))
{
    struct hone_lattice *l = hone_pool_alloc(pool, sizeof(*l));
    *l = (struct hone_lattice){.pool = pool,
                               .kernel = "made",
                               .task = "sum",
                               .target = "cpu",
                               .family = "test",
                               .template_hash = "0",
                               .machine = "none",
                               .date = "2026-11-21",
                               .harness = "none",
                               .n_strategies = N};
    for (size_t i = 0; i < N; i++)
        l->strategies[i] = (struct hone_lattice_strategy){names[i], ids[i]};
    for (unsigned s = 0; s < 1u << N; s++) {
        double g = gain(s);
        struct hone_lattice_state *to = &l->states[s];
        *to = (struct hone_lattice_state){.is_legal = true,
                                          .reason = isnan(g) ? "wrong_value" : "screened"};
        snprintf(to->code, sizeof(to->code), "%04x", s);
        to->features.v[HONE_F_CORES] = (struct hone_feature){true, 2};
        if (isnan(g))
            continue;
        to->n = 2;
        to->ns = hone_pool_alloc(pool, 2 * sizeof(double));
        to->ratio = hone_pool_alloc(pool, 2 * sizeof(double));
        for (size_t i = 0; i < 2; i++) {
            to->ratio[i] = exp2(g);
            to->ns[i] = 1000 / exp2(g);
        }
    }
    return l;
}

/* Every strategy helps, but the last hurts beside the second; best: all but the last. */
static double plain(unsigned s)
{
    double g = (s & 1) * 1.0 + (s >> 1 & 1) * 0.5 + (s >> 2 & 1) * 0.25;
    return s & 8 ? g - 3 * (s >> 1 & 1) + 0.2 : g;
}

/* The first costs alone and opens the way to the best: 0b1001. */
static double gated(unsigned s)
{
    if ((s & 9) == 9)
        return 3 - 0.1 * (s >> 1 & 1) - 0.1 * (s >> 2 & 1);
    return (s & 1 ? -0.3 : 0) + 0.1 * (s >> 1 & 1) - (s & 8 ? 0.2 : 0);
}

/* What is expected of the third is next to nothing, and it is nearly all there is. */
static double underrated(unsigned s)
{
    return (s & 1 ? 0.5 : 0) - 0.05 * (s >> 1 & 1) + 2.0 * (s >> 2 & 1) - 0.05 * (s >> 3 & 1);
}

static double broken(unsigned s)
{
    return s & 1 ? (double)NAN : plain(s);
}

START_TEST(the_optimum_is_known)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    ck_assert_uint_eq(hone_lattice_best(make(pool, plain)), 7);
    ck_assert_uint_eq(hone_lattice_best(make(pool, gated)), 9);
    ck_assert_uint_eq(hone_lattice_best(make(pool, broken)), 6); /* wrong states lead nowhere */
    ck_assert_double_eq_tol(hone_lattice_gain(make(pool, plain), 3), 1.5, 1e-9);
    ck_assert_double_nan(hone_lattice_gain(make(pool, broken), 1));
}
END_TEST

START_TEST(a_file_goes_round)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_lattice *l = make(pool, broken), *back = NULL;
    struct hone_err err = HONE_ERR_INIT;
    l->states[3].is_legal = false;
    l->states[4].features.v[HONE_F_NS] = (struct hone_feature){true, 0};
    HONE_AUTOFREE char *text = hone_lattice_print(l);
    ck_assert_msg(hone_lattice_parse(text, strlen(text), pool, &back, &err) == 0, "%s at %s",
                  err.message, err.path);
    HONE_AUTOFREE char *again = hone_lattice_print(back);
    ck_assert_str_eq(text, again);
    ck_assert(!back->states[3].is_legal && back->states[2].is_legal);
    ck_assert_str_eq(back->states[1].reason, "wrong_value");
    ck_assert(back->states[4].features.v[HONE_F_NS].is_present);
    ck_assert(!back->states[5].features.v[HONE_F_NS].is_present);
    ck_assert_str_eq(back->states[4].code, "0004");
}
END_TEST

START_TEST(odd_files_are_refused)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_lattice *l = make(pool, plain), *back = NULL;
    double many[HONE_LIMIT_LATTICE_REPEATS + 1];
    for (size_t i = 0; i < HONE_COUNTOF(many); i++)
        many[i] = 1;
    l->states[2].ns = l->states[2].ratio = many;
    for (size_t n = HONE_LIMIT_LATTICE_REPEATS; n <= HONE_LIMIT_LATTICE_REPEATS + 1; n++) {
        l->states[2].n = n;
        HONE_AUTOFREE char *text = hone_lattice_print(l);
        ck_assert_int_eq(hone_lattice_parse(text, strlen(text), pool, &back, NULL) == 0,
                         n == HONE_LIMIT_LATTICE_REPEATS);
    }
    many[0] = 0; /* no time */
    l->states[2].n = 1;
    HONE_AUTOFREE char *text = hone_lattice_print(l);
    ck_assert_int_eq(hone_lattice_parse(text, strlen(text), pool, &back, NULL), HONE_E_ARG);
    l->states[2].n = 0;
    l->strategies[0].id = "C99";
    HONE_AUTOFREE char *other = hone_lattice_print(l);
    ck_assert_int_eq(hone_lattice_parse(other, strlen(other), pool, &back, NULL), HONE_E_ARG);
}
END_TEST

/* ---- policies ---- */

static double mean_regret(struct hone_lattice *l, const char *policy, int64_t expansions,
                          double failure)
{
    struct hone_sim *sim = hone_sim_new(&l, 1);
    const struct hone_sim_options o = {.n_expansions = expansions, .failure = failure};
    double sum = 0;
    for (int64_t seed = 1; seed <= 50; seed++)
        sum += hone_sim_search(sim, 0, hone_policy_find(policy), &o, seed, NULL);
    hone_sim_free(sim);
    return sum / 50;
}

START_TEST(all_but_the_chain_find_the_optimum)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_lattice *l = make(pool, plain);
    for (size_t i = 0; i < hone_n_policies; i++) {
        const char *name = hone_policies[i]->name;
        double regret = mean_regret(l, name, 64, 0);
        if (strcmp(name, "chain") == 0)
            ck_assert_msg(regret > 0.1, "the chain cannot go back: %g", regret);
        else
            ck_assert_msg(regret < 1e-9, "%s: %g", name, regret);
    }
}
END_TEST

START_TEST(a_tree_goes_through_a_slower_version)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_lattice *l = make(pool, gated);
    ck_assert_double_lt(mean_regret(l, "puct", 16, 0), 0.3);
    ck_assert_double_gt(mean_regret(l, "puct", 1, 0), 2); /* one step cannot reach it */
}
END_TEST

START_TEST(every_strategy_is_done_once_before_one_is_repeated)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    double regret = mean_regret(make(pool, underrated), "puct", N, 0);
    ck_assert_msg(regret < 0.2, "%g", regret);
}
END_TEST

/* Recorded: coalescing alone beats the shared tile alone, excludes it, and ends at half of what the
 * tile without bank conflicts reaches. */
START_TEST(what_the_best_has_closed_off_is_tried)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_lattice *l = NULL;
    ck_assert_int_eq(
        hone_lattice_load("agents/offline/lattices/transpose.cuda.json", pool, &l, NULL), 0);
    double regret = mean_regret(l, "puct", 16, 0);
    ck_assert_msg(regret < 0.3, "%g", regret);
}
END_TEST

START_TEST(priors_and_learning_pay)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_lattice *l = make(pool, plain);
    double puct = mean_regret(l, "puct", 4, 0.1), random = mean_regret(l, "random", 4, 0.1);
    ck_assert_msg(puct < random, "%g %g", puct, random);
    ck_assert_double_gt(mean_regret(l, "puct", 4, 0.5), puct); /* failures cost */
}
END_TEST

START_TEST(the_same_seed_is_the_same_search)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_lattice *l = make(pool, plain);
    struct hone_sim *sim = hone_sim_new(&l, 1);
    const struct hone_sim_options o = {.n_expansions = 3, .failure = 0.3};
    int n_different = 0;
    for (int64_t seed = 1; seed < 30; seed++) {
        const struct hone_policy *p = hone_policy_find("random");
        double a = hone_sim_search(sim, 0, p, &o, seed, NULL),
               b = hone_sim_search(sim, 0, p, &o, seed, NULL),
               c = hone_sim_search(sim, 0, p, &o, seed + 100, NULL);
        ck_assert(a == b);
        n_different += a != c;
    }
    ck_assert_int_gt(n_different, 5);
    hone_sim_free(sim);
}
END_TEST

static double regret_beside(struct hone_lattice *l, int64_t n_coders, int64_t expansions)
{
    struct hone_sim *sim = hone_sim_new(&l, 1);
    const struct hone_sim_options o = {
        .n_expansions = expansions, .n_coders = n_coders, .failure = 0.1};
    double sum = 0;
    for (int64_t seed = 1; seed <= 50; seed++) {
        int64_t used = 0;
        sum += hone_sim_search(sim, 0, hone_policy_find("puct"), &o, seed, &used);
        ck_assert_int_le(used, expansions);
    }
    hone_sim_free(sim);
    return sum / 50;
}

/* Steps chosen without knowing what the last ones brought: worse for as many steps, better for as
 * long a wait. */
START_TEST(steps_beside_each_other)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_lattice *l = make(pool, plain);
    double one = regret_beside(l, 1, 6), blind = regret_beside(l, 4, 6),
           four = regret_beside(l, 4, 24);
    ck_assert_msg(blind > one && four < one, "%g %g %g", one, blind, four);
    ck_assert(regret_beside(l, 0, 6) == one);
}
END_TEST

/* ---- learning ---- */

START_TEST(failures_and_ideas_are_kept_apart)
{
    struct hone_credit credit;
    struct hone_expectation before, after, other;
    const struct hone_strategy *s = hone_strategy_find("cpu", "C04"),
                               *t = hone_strategy_find("cpu", "C08");
    hone_credit_init(&credit);
    hone_credit_predict(&credit, s, HONE_N_CLASSES, &before);
    ck_assert_double_eq_tol(before.p_impl, 0.85, 1e-9);
    ck_assert_double_eq_tol(before.gain, s->gain, 1e-9);
    hone_credit_failed(&credit, s);
    hone_credit_predict(&credit, s, HONE_N_CLASSES, &after);
    hone_credit_predict(&credit, t, HONE_N_CLASSES, &other);
    ck_assert_double_lt(after.p_impl, other.p_impl);  /* it is this strategy above all... */
    ck_assert_double_lt(other.p_impl, before.p_impl); /* ...and the coder a little */
    ck_assert_double_eq(after.gain, before.gain);
    hone_credit_note(&credit, s, HONE_CLASS_SCALAR, 2, HONE_TRI_UNKNOWN);
    hone_credit_predict(&credit, s, HONE_CLASS_SCALAR, &other);
    ck_assert_double_eq(other.gain, after.gain); /* unknown neither credits nor refutes */
    ck_assert_double_eq(other.p_impl, after.p_impl);
    hone_credit_note(&credit, s, HONE_CLASS_SCALAR, 2, HONE_TRI_FALSE);
    hone_credit_predict(&credit, s, HONE_CLASS_SCALAR, &other);
    ck_assert_double_eq(other.gain, after.gain);
    ck_assert_double_lt(other.p_impl, after.p_impl);
    hone_credit_note(&credit, s, HONE_CLASS_SCALAR, 4, HONE_TRI_TRUE);
    hone_credit_predict(&credit, s, HONE_CLASS_SCALAR, &after);
    hone_credit_predict(&credit, s, HONE_CLASS_CHAIN, &other);
    ck_assert_double_gt(after.gain, other.gain);  /* most where it was seen */
    ck_assert_double_gt(other.gain, before.gain); /* some everywhere */
    ck_assert_double_gt(after.high, after.gain);
    ck_assert_double_gt(after.positive, 0);
}
END_TEST

struct bench {
    struct hone_pool *pool;
    struct hone_tree tree;
    struct hone_credit credit;
    struct hone_node *root;
    struct hone_rewrite rewrite;
    struct hone_action action;
};

static void open_bench(struct bench *b)
{
    b->pool = hone_pool_new();
    hone_tree_init(&b->tree, b->pool);
    hone_credit_init(&b->credit);
    b->root = hone_tree_add(&b->tree, HONE_NO_NODE, "root", NULL, 0, 0.01);
    snprintf(b->root->code, sizeof(b->root->code), "aaaa");
    b->rewrite = (struct hone_rewrite){.name = "r", .strategy = "C16"};
    b->action = (struct hone_action){
        .rewrite = &b->rewrite, .strategy = hone_strategy_find("cpu", "C16"), .gain = 0.5};
}

START_TEST(the_same_code_is_the_same_version)
{
    struct bench b;
    bool is_new = true;
    struct hone_step_result r;
    open_bench(&b);
    struct hone_node *same =
        hone_planner_add(&b.tree, b.root, &b.action, "x", NULL, "aaaa", 0.4, 0.01, &is_new);
    ck_assert_ptr_eq(same, b.root);
    ck_assert(!is_new);
    ck_assert_int_eq(b.tree.n_nodes, 1);
    const struct hone_step step = {b.root, &b.action, HONE_STEP_RIGHT, same, 0, NULL, NULL};
    hone_planner_learn(&b.tree, &b.credit, &step, &r);
    ck_assert_int_eq(r.moved, HONE_TRI_FALSE);
    ck_assert(!r.is_gain);
    struct hone_node *other =
        hone_planner_add(&b.tree, b.root, &b.action, "y", NULL, "bbbb", 0.4, 0.01, &is_new);
    ck_assert(is_new && other != b.root);
    ck_assert_int_eq(b.tree.n_nodes, 2);
    struct hone_node *unknown =
        hone_planner_add(&b.tree, b.root, &b.action, "z", NULL, NULL, 0.4, 0.01, &is_new);
    ck_assert(is_new && unknown != other);
    ck_assert_int_eq(hone_planner_evidence(b.action.strategy, b.root, other), HONE_TRI_TRUE);
    ck_assert_int_eq(hone_planner_evidence(b.action.strategy, b.root, unknown), HONE_TRI_UNKNOWN);
    hone_pool_free(b.pool);
}
END_TEST

START_TEST(the_way_to_the_best_stays_open)
{
    struct bench b;
    bool is_new;
    struct hone_step_result r;
    open_bench(&b);
    struct hone_node *way =
        hone_planner_add(&b.tree, b.root, &b.action, "1", NULL, "b1", 1, 0.01, &is_new);
    struct hone_node *best =
        hone_planner_add(&b.tree, way, &b.action, "2", NULL, "b2", 2, 0.01, &is_new);
    struct hone_node *other =
        hone_planner_add(&b.tree, b.root, &b.action, "3", NULL, "b3", 0.5, 0.01, &is_new);
    for (int i = 0; i < 3; i++) {
        const struct hone_step under_best = {best, &b.action, HONE_STEP_WRONG, NULL, 0, NULL, NULL};
        const struct hone_step under_other = {other, &b.action, HONE_STEP_WRONG, NULL, 0,
                                              NULL,  NULL};
        hone_planner_learn(&b.tree, &b.credit, &under_best, &r);
        hone_planner_learn(&b.tree, &b.credit, &under_other, &r);
    }
    ck_assert(!way->is_dead && !best->is_dead);
    ck_assert(other->is_dead);
    hone_pool_free(b.pool);
}
END_TEST

START_TEST(other_kernels_teach)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_lattice *l[2] = {make(pool, plain), make(pool, gated)};
    const struct hone_strategy *first = hone_strategy_find("cpu", ids[0]);
    struct hone_prior prior;
    struct hone_credit taught, fresh;
    struct hone_expectation with, without;
    l[1]->task = "other";
    l[1]->family = "another";
    hone_prior_fit(l, 2, 1, &prior); /* from the first alone */
    ck_assert_uint_eq(prior.n_lattices, 1);
    struct hone_credit_cell c = prior.gains[hone_strategy_index(first)];
    ck_assert_double_eq(c.n, 1);
    ck_assert_double_eq_tol(c.sum, 1.0, 1e-9);
    hone_prior_begin(&prior, &taught);
    hone_prior_begin(NULL, &fresh);
    hone_credit_predict(&taught, first, HONE_N_CLASSES, &with);
    hone_credit_predict(&fresh, first, HONE_N_CLASSES, &without);
    ck_assert_double_lt(fabs(with.gain - 1.0), fabs(without.gain - 1.0));
    l[1]->task = l[0]->task;
    hone_prior_fit(l, 2, 1, &prior); /* the same task under another name teaches nothing */
    ck_assert_uint_eq(prior.n_lattices, 0);
    l[1]->task = "other";
    l[1]->family = l[0]->family;
    hone_prior_fit(l, 2, 1, &prior); /* nor does another task of its family */
    ck_assert_uint_eq(prior.n_lattices, 0);
}
END_TEST

enum { N_KERNELS = 6 };

/* The first is played. It is like those where the third strategy is nearly all there is, and unlike
 * the last, where it is little. */
START_TEST(like_kernels_teach_more)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_lattice *l[N_KERNELS];
    static const char *const tasks[N_KERNELS] = {"a", "b", "c", "d", "e", "f"};
    static const double intensity[N_KERNELS] = {2, 2.1, 1.9, 2, 2.2, 900};
    const struct hone_strategy *third = hone_strategy_find("cpu", ids[2]);
    const struct hone_policy *policy = hone_policy_find("learned"), *other;
    struct hone_prior priors[N_KERNELS], even;
    const struct hone_prior *learned[N_KERNELS];
    for (size_t i = 0; i < N_KERNELS; i++) {
        l[i] = make(pool, i + 1 < N_KERNELS ? underrated : plain);
        l[i]->task = l[i]->family = tasks[i];
        l[i]->states[0].features.v[HONE_F_INTENSITY] = (struct hone_feature){true, intensity[i]};
    }
    for (size_t i = 0; i < N_KERNELS; i++) {
        hone_prior_fit_like(l, N_KERNELS, i, &priors[i]);
        learned[i] = &priors[i];
    }
    hone_prior_fit(l, N_KERNELS, 0, &even);
    struct hone_credit_cell like = priors[0].gains[hone_strategy_index(third)],
                            all = even.gains[hone_strategy_index(third)];
    ck_assert_double_eq_tol(like.sum / like.n, 2, 0.02);
    ck_assert_double_lt(all.sum / all.n, 1.7);
    const struct hone_sim_options with = {.n_expansions = 1, .learned = learned},
                                  without = {.n_expansions = 1};
    struct hone_sim *sim = hone_sim_new(l, N_KERNELS);
    double taught = hone_sim_search(sim, 0, policy, &with, 1, NULL),
           untaught = hone_sim_search(sim, 0, policy, &without, 1, NULL);
    ck_assert_msg(taught < untaught - 1, "%g %g", taught, untaught);
    other = hone_policy_find("greedy"); /* sees nothing of it */
    ck_assert(hone_sim_search(sim, 0, other, &with, 1, NULL) ==
              hone_sim_search(sim, 0, other, &without, 1, NULL));
    hone_sim_free(sim);
}
END_TEST

static const struct {
    enum hone_step_end end;
    double value, low, high; /* of the child; bounds of the reward */
} rewards[] = {
    {HONE_STEP_RIGHT, 1.0, 0.9, 1.1},     {HONE_STEP_RIGHT, -1.0, -1.1, -0.9},
    {HONE_STEP_RIGHT, 9.0, 2.9, 3.1},     {HONE_STEP_RIGHT, -9.0, -3.1, -2.9},
    {HONE_STEP_RIGHT, 0.02, -0.1, 0.1}, /* within the noise */
    {HONE_STEP_COMPILE, NAN, -0.2, -0.2}, {HONE_STEP_WRONG, NAN, -0.3, -0.3},
    {HONE_STEP_CRASH, NAN, -0.3, -0.3},   {HONE_STEP_CHEATED, NAN, -1, -1},
    {HONE_STEP_MACHINE, NAN, 0, 0},
};

START_TEST(rewards_are_symmetric_and_blind_to_noise)
{
    for (size_t i = 0; i < HONE_COUNTOF(rewards); i++) {
        struct bench b;
        bool is_new;
        struct hone_step_result r;
        open_bench(&b);
        struct hone_step step = {b.root, &b.action, rewards[i].end, NULL, 0, NULL, NULL};
        if (rewards[i].end == HONE_STEP_RIGHT)
            step.node = hone_planner_add(&b.tree, b.root, &b.action, "x", NULL, "bbbb",
                                         rewards[i].value, 0.01, &is_new);
        hone_planner_learn(&b.tree, &b.credit, &step, &r);
        ck_assert_msg(r.reward >= rewards[i].low && r.reward <= rewards[i].high, "%zu: %g", i,
                      r.reward);
        ck_assert_uint_eq(b.tree.n_edges, 1);
        ck_assert_int_eq(b.root->n_visits, 2);
        hone_pool_free(b.pool);
    }
}
END_TEST

/* As if the step had not been legal: nobody is blamed, and it is not taken again. */
START_TEST(a_declined_step_blames_nobody)
{
    struct bench b;
    struct hone_step_result r;
    open_bench(&b);
    const struct hone_credit before = b.credit;
    int visits = b.root->n_visits, no_gain = b.root->n_no_gain;
    const struct hone_step step = {b.root, &b.action, HONE_STEP_DECLINED, NULL, 0, NULL, NULL};
    hone_planner_learn(&b.tree, &b.credit, &step, &r);
    ck_assert_double_eq(r.reward, 0);
    ck_assert_int_eq(memcmp(&b.credit, &before, sizeof(before)), 0);
    ck_assert_int_eq(b.root->n_visits, visits);
    ck_assert_int_eq(b.root->n_no_gain, no_gain);
    ck_assert_int_eq(b.tree.n_since_best, 1); /* a coder that always declines ends at the plateau */
    ck_assert(hone_tree_was_tried(&b.tree, 0, b.action.rewrite->name, b.action.site.anchor,
                                  b.action.site.variant));
    /* a failure does count */
    const struct hone_step failed = {b.root, &b.action, HONE_STEP_COMPILE, NULL, 0, NULL, NULL};
    hone_planner_learn(&b.tree, &b.credit, &failed, &r);
    ck_assert_int_ne(memcmp(&b.credit, &before, sizeof(before)), 0);
    hone_pool_free(b.pool);
}
END_TEST

static double discount_at(struct bench *b, int node, const struct hone_action *asked)
{
    struct hone_action action = *asked;
    const struct hone_scene scene = {&b->root->features, NULL, 0, &b->credit, &b->tree, node, NULL};
    action.discount = 1;
    ck_assert_uint_eq(hone_rank_actions(&scene, &action, 1), 1);
    return action.discount;
}

/* Its success raises what is expected of the strategy, but not once more in the same version. */
START_TEST(a_step_that_stands_there_is_expected_to_pay_less)
{
    struct bench b;
    struct hone_step_result r;
    bool is_new;
    open_bench(&b);
    struct hone_action other = b.action;
    snprintf(other.site.anchor, sizeof(other.site.anchor), "elsewhere");
    struct hone_node *child =
        hone_planner_add(&b.tree, b.root, &b.action, "int x;", "c", "code", 1, 0.01, &is_new);
    ck_assert_double_eq(discount_at(&b, b.root->index, &other), 1);
    double once = discount_at(&b, child->index, &other);
    ck_assert_double_lt(once, 0.5);
    const struct hone_step declined = {child, &b.action, HONE_STEP_DECLINED, NULL, 0, NULL, NULL};
    hone_planner_learn(&b.tree, &b.credit, &declined, &r);
    ck_assert_double_lt(discount_at(&b, child->index, &other), once / 2);
    ck_assert_double_eq(discount_at(&b, b.root->index, &other), 1);
    hone_pool_free(b.pool);
}
END_TEST

/* One strategy of a search is one look: the mean of its gains. What is expected too little of is
 * found sooner with it. */
START_TEST(a_search_teaches_the_next)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_lattice *l[2] = {make(pool, underrated), make(pool, underrated)};
    const struct hone_sim_options options = {.n_expansions = 12, .n_seeds = 10};
    const struct hone_strategy *third = hone_strategy_find("cpu", ids[2]);
    struct hone_prior prior = {.n_lattices = 0};
    struct hone_taught taught;
    struct hone_sim *sim = hone_sim_new(l, 2);
    hone_sim_teach(sim, 0, &options, 1, &prior);
    hone_sim_teach(sim, 0, &options, 2, &prior);
    struct hone_credit_cell c = prior.gains[hone_strategy_index(third)];
    ck_assert_double_eq(c.n, 2);
    ck_assert_double_eq_tol(c.sum, 4.0, 1e-6);
    ck_assert_double_eq_tol(c.sum2, 8.0, 1e-6);
    hone_taught_compare(sim, 0, 1, &options, &taught);
    ck_assert_msg(taught.with < taught.without, "%g %g", taught.with, taught.without);
    hone_sim_free(sim);
}
END_TEST

UNIT_MAIN("lattice", a_search_teaches_the_next, a_template_resolves, bad_templates_are_refused,
          the_optimum_is_known, a_file_goes_round, odd_files_are_refused,
          all_but_the_chain_find_the_optimum, a_tree_goes_through_a_slower_version,
          every_strategy_is_done_once_before_one_is_repeated, what_the_best_has_closed_off_is_tried,
          priors_and_learning_pay, the_same_seed_is_the_same_search, steps_beside_each_other,
          failures_and_ideas_are_kept_apart, the_same_code_is_the_same_version,
          the_way_to_the_best_stays_open, other_kernels_teach, the_way_to_the_best_stays_open,
          like_kernels_teach_more, rewards_are_symmetric_and_blind_to_noise,
          a_declined_step_blames_nobody, a_step_that_stands_there_is_expected_to_pay_less)
