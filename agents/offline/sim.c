/* SPDX-License-Identifier: Apache-2.0 */
/* Searches replayed on lattices (sim.h).
 *
 * Flow of one run: expand gives a node the actions that its lattice state allows; the policy
 * picks; coder_fails draws whether the step is done; measure draws a time around the recorded one;
 * tree and credit are told. With several coders, steps wait in a queue and the oldest is taken
 * first, as in a real search. hone_sim_compare repeats this over lattices and seeds and gives
 * regrets with intervals.
 *
 * Every random draw names its stream, so that two policies meet the same luck. */
#include "agents/offline/sim.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agents/planner/cost_model.h"
#include "agents/planner/planner.h"
#include "agents/planner/prior.h"
#include "workspace/base/order_stats.h"
#include "workspace/base/rng.h"

enum { BOOTSTRAPS = 4000 };
#define LEAST_SE   0.003
#define FREE_TRIES 8 /* known texts for each expansion, at most */

enum stream { STREAM_COIN, STREAM_RATE, STREAM_CLOCK, STREAM_KIND, STREAM_BOOTSTRAP };

struct state {
    struct hone_finding findings[HONE_N_CLASSES];
    size_t n_findings;
    double gain, se; /* truth */
    bool is_right;
};

struct board { /* one lattice, prepared */
    const struct hone_lattice *lattice;
    struct hone_rewrite steps[HONE_LATTICE_STRATEGIES];
    const struct hone_strategy *strategies[HONE_LATTICE_STRATEGIES];
    struct state states[HONE_LATTICE_STATES];
    double root_log_ratio, best;
};

struct hone_sim {
    struct hone_pool *pool;
    struct board *boards;
    size_t n;
};

/* ---- lattices ---- */

/* Of one repeat, log2. Few repeats say little of their spread: the lattice's mean counts like two.
 */
static double spread_of(const struct hone_lattice_state *s, double usual)
{
    double sum = 0, square = 0, n = (double)s->n;
    for (size_t i = 0; i < s->n; i++)
        sum += log2(s->ratio[i]);
    for (size_t i = 0; i < s->n; i++)
        square += pow(log2(s->ratio[i]) - sum / n, 2);
    return sqrt((square + 2 * usual * usual) / (n + 1));
}

static double usual_spread(const struct hone_lattice *l)
{
    double square = 0, n = 0;
    for (unsigned s = 0; s < HONE_LATTICE_STATES; s++) {
        if (!hone_lattice_is_right(l, s) || l->states[s].n < 2)
            continue;
        double own = spread_of(&l->states[s], 0);
        square += own * own;
        n++;
    }
    return n > 0 ? fmax(LEAST_SE, sqrt(square / n)) : LEAST_SE;
}

static void prepare(struct hone_pool *pool, const struct hone_lattice *l, struct board *b)
{
    b->lattice = l;
    for (size_t i = 0; i < l->n_strategies; i++) {
        b->strategies[i] = hone_strategy_find(l->target, l->strategies[i].id);
        b->steps[i] = (struct hone_rewrite){.name = l->strategies[i].name,
                                            .target = b->strategies[i]->target,
                                            .strategy = l->strategies[i].id,
                                            .words = b->strategies[i]->words};
    }
    double usual = usual_spread(l);
    for (unsigned s = 0; s < 1u << l->n_strategies; s++) {
        struct state *to = &b->states[s];
        to->is_right = hone_lattice_is_right(l, s);
        if (!to->is_right)
            continue;
        to->gain = hone_lattice_gain(l, s);
        to->se = spread_of(&l->states[s], usual);
        to->n_findings = hone_bottlenecks(l->target, &l->states[s].features, pool, to->findings);
    }
    b->best = hone_lattice_gain(l, hone_lattice_best(l));
    /* measured gain = log2(ratio) - this; agrees with hone_lattice_gain up to the repeat's noise */
    b->root_log_ratio = hone_lattice_root_log_ratio(l);
}

struct hone_sim *hone_sim_new(struct hone_lattice *const *lattices, size_t n)
{
    struct hone_pool *pool = hone_pool_new();
    struct hone_sim *sim = hone_pool_alloc(pool, sizeof(*sim));
    *sim = (struct hone_sim){.pool = pool, .n = n};
    sim->boards = hone_pool_alloc(pool, (n + 1) * sizeof(*sim->boards));
    memset(sim->boards, 0, (n + 1) * sizeof(*sim->boards));
    for (size_t i = 0; i < n; i++)
        prepare(pool, lattices[i], &sim->boards[i]);
    return sim;
}

void hone_sim_free(struct hone_sim *sim)
{
    if (sim)
        hone_pool_free(sim->pool);
}

/* ---- one search ---- */

struct asked { /* a step under way */
    int node;
    const struct hone_rewrite *step;
    const struct hone_strategy *strategy;
};

struct run {
    const struct board *board;
    size_t lattice;
    const struct hone_sim_options *options;
    struct hone_pool *pool;
    struct hone_tree tree;
    struct hone_credit credit;
    unsigned state_of[HONE_TREE_MAX_NODES];
    bool is_known[HONE_LATTICE_STATES];
    int64_t seed;
    struct asked asked[HONE_MAX_CODERS]; /* oldest first */
    int64_t n_asked;
};

static double chance(int64_t seed, enum stream stream, uint64_t counter)
{
    uint8_t key[16] = {0};
    memcpy(key, &seed, sizeof(seed));
    return hone_rng_unit(hone_rng_u64(key, (uint64_t)stream + 100, counter));
}

static void expand(void *arg, struct hone_node *node)
{
    struct run *r = arg;
    const struct hone_lattice *l = r->board->lattice;
    unsigned state = r->state_of[node->index];
    struct hone_action *actions =
        hone_pool_alloc(r->pool, HONE_LATTICE_STRATEGIES * sizeof(*actions));
    size_t n = 0;
    for (size_t i = 0; i < l->n_strategies; i++)
        if (!(state >> i & 1) && l->states[state | 1u << i].is_legal)
            actions[n++] = (struct hone_action){
                .rewrite = &r->board->steps[i], .strategy = r->board->strategies[i], .discount = 1};
    const struct hone_scene scene = {
        &node->features, node->findings, node->n_findings, &r->credit, &r->tree, node->index, NULL};
    node->actions = actions;
    node->n_actions = hone_rank_actions(&scene, actions, n);
    if (r->options->cost)
        hone_cost_mark(r->options->cost[r->lattice], r->options->cost_limit, node);
    node->is_expanded = true;
}

static double measure(const struct run *r, unsigned state)
{
    const struct hone_lattice_state *s = &r->board->lattice->states[state];
    size_t i = (size_t)(chance(r->seed, STREAM_CLOCK, state) * (double)s->n);
    return log2(s->ratio[i]) - r->board->root_log_ratio;
}

static void fill_node(struct run *r, struct hone_node *n, unsigned state)
{
    const struct state *s = &r->board->states[state];
    r->state_of[n->index] = state;
    n->features = r->board->lattice->states[state].features;
    memcpy(n->findings, s->findings, sizeof(n->findings));
    n->n_findings = s->n_findings;
    expand(r, n);
}

/* Chances differ by strategy and seed, outcomes by place: whoever asks gets the same answer. */
static bool coder_fails(const struct run *r, unsigned state, size_t bit)
{
    double rate = 2 * r->options->failure * chance(r->seed, STREAM_RATE, bit);
    return chance(r->seed, STREAM_COIN, state * HONE_LATTICE_STRATEGIES + bit) < rate;
}

/* False: the text was known, so that nothing was spent. */
static bool take(struct run *r, struct hone_node *from, struct hone_action *a)
{
    size_t bit = (size_t)(a->rewrite - r->board->steps);
    unsigned state = r->state_of[from->index], next = state | 1u << bit;
    struct hone_step step = {.from = from, .action = a, .end = HONE_STEP_REFUSED};
    struct hone_step_result learnt;
    bool is_new = false;
    a->is_tried = true;
    bool is_failure = coder_fails(r, state, bit) || !r->board->states[next].is_right;
    bool is_free = !is_failure && r->is_known[next];
    if (is_failure) {
        step.end = chance(r->seed, STREAM_KIND, state * HONE_LATTICE_STRATEGIES + bit) < 0.5
                       ? HONE_STEP_COMPILE
                       : HONE_STEP_WRONG;
    } else if (!is_free) {
        r->is_known[next] = true;
        step.end = HONE_STEP_RIGHT;
        step.node =
            hone_planner_add(&r->tree, from, a, "", NULL, r->board->lattice->states[next].code,
                             measure(r, next), r->board->states[next].se, &is_new);
        if (is_new)
            fill_node(r, step.node, next);
    }
    hone_planner_learn(&r->tree, &r->credit, &step, &learnt);
    return !is_free;
}

static struct hone_edge_record edge_of(const struct asked *a)
{
    return (struct hone_edge_record){
        .parent = a->node, .rewrite = a->step->name, .strategy = a->strategy};
}

/* As the search does it with several answers of models under way (search_ahead.c). */
static void fill(struct run *r, const struct hone_policy *policy, struct hone_policy_ctx *ctx,
                 int64_t n_left)
{
    struct hone_pick pick;
    int64_t n_most = r->options->n_coders > 0 ? r->options->n_coders : 1;
    while (r->n_asked < n_most && r->n_asked < n_left && hone_policy_pick(policy, ctx, &pick)) {
        struct hone_action *a = &r->tree.nodes[pick.node]->actions[pick.action];
        struct asked *t = &r->asked[r->n_asked++];
        *t = (struct asked){pick.node, a->rewrite, a->strategy};
        const struct hone_edge_record edge = edge_of(t);
        a->is_tried = true;
        hone_tree_begin_step(&r->tree, &edge);
    }
}

static bool take_oldest(struct run *r)
{
    const struct asked t = r->asked[0];
    const struct hone_edge_record edge = edge_of(&t);
    struct hone_node *from = r->tree.nodes[t.node];
    memmove(&r->asked[0], &r->asked[1], (size_t)--r->n_asked * sizeof(*r->asked));
    hone_tree_end_step(&r->tree, &edge);
    size_t i = 0;
    while (from->actions[i].rewrite != t.step)
        i++;
    return take(r, from, &from->actions[i]);
}

static void start(struct run *r, size_t lattice, const struct hone_policy *policy)
{
    const struct hone_prior *const *priors =
        policy->is_learned ? r->options->learned : r->options->priors;
    hone_tree_init(&r->tree, r->pool);
    hone_prior_begin(priors ? priors[lattice] : NULL, &r->credit);
    struct hone_node *root =
        hone_tree_add(&r->tree, HONE_NO_NODE, "", NULL, 0, r->board->states[0].se);
    snprintf(root->code, sizeof(root->code), "%s", r->board->lattice->states[0].code);
    r->is_known[0] = true;
    fill_node(r, root, 0);
}

static int64_t play(struct run *r, const struct hone_policy *policy)
{
    struct hone_policy_ctx ctx = {
        .tree = &r->tree, .credit = &r->credit, .expand = expand, .expand_arg = r, .seed = r->seed};
    int64_t n = 0, n_free = 0, n_most = r->options->n_expansions;
    start(r, r->lattice, policy);
    while (n_free < FREE_TRIES * n_most) {
        fill(r, policy, &ctx, n_most - n);
        if (r->n_asked == 0)
            break;
        if (take_oldest(r))
            n++;
        else
            n_free++;
    }
    return n;
}

static struct run *new_run(const struct hone_sim *sim, size_t lattice,
                           const struct hone_sim_options *options, int64_t seed,
                           struct hone_pool *pool)
{
    struct run *r = hone_pool_alloc(pool, sizeof(*r));
    *r = (struct run){.board = &sim->boards[lattice],
                      .lattice = lattice,
                      .options = options,
                      .pool = pool,
                      .seed = seed};
    return r;
}

double hone_sim_search(const struct hone_sim *sim, size_t lattice, const struct hone_policy *policy,
                       const struct hone_sim_options *options, int64_t seed,
                       int64_t *ret_expansions)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct run *r = new_run(sim, lattice, options, seed, pool);
    int64_t n = play(r, policy);
    if (ret_expansions)
        *ret_expansions = n;
    return r->board->best - r->board->states[r->state_of[r->tree.best]].gain;
}

void hone_sim_teach(const struct hone_sim *sim, size_t lattice,
                    const struct hone_sim_options *options, int64_t seed, struct hone_prior *ret)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct run *r = new_run(sim, lattice, options, seed, pool);
    struct hone_credit_cell *seen = hone_pool_alloc(pool, HONE_CREDIT_MAX * sizeof(*seen));
    memset(seen, 0, HONE_CREDIT_MAX * sizeof(*seen));
    play(r, hone_policy_find("puct"));
    for (size_t i = 0; i < r->tree.n_edges; i++) {
        const struct hone_edge_record *e = &r->tree.edges[i];
        if (e->child == HONE_NO_NODE)
            continue;
        struct hone_credit_cell *c = &seen[hone_strategy_index(e->strategy)];
        c->n++;
        c->sum += hone_node_gain(r->tree.nodes[e->parent], r->tree.nodes[e->child]);
    }
    for (size_t i = 0; i < HONE_CREDIT_MAX; i++) {
        double gain = seen[i].n > 0 ? seen[i].sum / seen[i].n : 0;
        struct hone_credit_cell *to = &ret->gains[i];
        *to = (struct hone_credit_cell){to->n + (seen[i].n > 0), to->sum + gain,
                                        to->sum2 + gain * gain};
    }
}

/* ---- comparison ---- */

/* 95 % interval of the mean of v over kernels, drawn with replacement. */
static void interval(const double *v, size_t n, double *ret_low, double *ret_high)
{
    HONE_AUTOFREE double *means = hone_calloc(BOOTSTRAPS, sizeof(*means));
    for (size_t b = 0; b < BOOTSTRAPS; b++) {
        for (size_t i = 0; i < n; i++)
            means[b] += v[(size_t)(chance(1, STREAM_BOOTSTRAP, b * n + i) * (double)n)];
        means[b] /= (double)n;
    }
    qsort(means, BOOTSTRAPS, sizeof(*means), hone_by_f64);
    *ret_low = means[BOOTSTRAPS / 40];
    *ret_high = means[BOOTSTRAPS - 1 - BOOTSTRAPS / 40];
}

static double mean(const double *v, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += v[i];
    return n > 0 ? sum / (double)n : 0;
}

void hone_sim_compare(const struct hone_sim *sim, const struct hone_policy *const *policies,
                      size_t n_policies, const struct hone_sim_options *options,
                      struct hone_pool *pool, struct hone_sim_score *ret)
{
    double *less = hone_pool_alloc(pool, (sim->n + 1) * sizeof(*less));
    for (size_t p = 0; p < n_policies; p++) {
        struct hone_sim_score *s = &ret[p];
        *s = (struct hone_sim_score){.policy = policies[p]};
        s->by_kernel = hone_pool_alloc(pool, (sim->n + 1) * sizeof(double));
        for (size_t k = 0; k < sim->n; k++) {
            double sum = 0;
            for (int64_t seed = 1; seed <= options->n_seeds; seed++) {
                int64_t used = 0;
                sum += hone_sim_search(sim, k, policies[p], options, seed, &used);
                s->expansions += (double)used / (double)(options->n_seeds * (int64_t)sim->n);
            }
            s->by_kernel[k] = sum / (double)options->n_seeds;
            less[k] = s->by_kernel[k] - ret[0].by_kernel[k];
        }
        s->regret = mean(s->by_kernel, sim->n);
        s->over = mean(less, sim->n);
        interval(s->by_kernel, sim->n, &s->low, &s->high);
        interval(less, sim->n, &s->over_low, &s->over_high);
    }
}
