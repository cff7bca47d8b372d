/* SPDX-License-Identifier: Apache-2.0 */
/* PUCT over the version tree.
 *
 * From the root down: at a version, its living children and its best untried step compete by
 *     Q + c * P * sqrt(1 + N) / (1 + n)
 * Q is in log2 units scaled by 1/2. An untried step is worth its version's value, a share of what
 * is expected of it, and what it teaches: a strategy that was never done in this search says most,
 * and one that the best version has closed off counts as if that version still offered it.
 * A child's lookahead value is the most that an untried step beneath it is worth, by the same rule.
 * Either side counts as a mix of that and of the mean of what was measured at the version and
 * beneath it. So both look one step ahead and both know the mean; a side that counts less loses to every
 * sibling that is still hoped for, and the budget goes into breadth (docs/planner.md).
 *
 *   widening      at most 2 sqrt(N) children
 *   throttle      after six expansions the root gets at most 40 % of them
 *   dead          three expansions without gain in a row beneath a version, or its optimistic bound
 *                 (the two best upper 80 % gains that are left) cannot beat the best
 *   exploration   with a small probability the step is drawn from P; the propensity says so
 *
 * Limits are lifted one after the other when nothing else is left. Rows "puct-flat" and "puct-mean"
 * leave one part out, for comparison. */
#include "agents/planner/policy.h"

#include <math.h>
#include <string.h>

#define SCALE 0.5

struct parameters {
    double c, epsilon;
    double max_share;     /* of the lookahead in Q */
    double utility_share; /* of the expected gain that an untried step is credited with */
    double novelty;       /* log2: of a strategy that was never done; less for each time it was */
    double root_share;
    int root_free;
    bool is_flat; /* all steps alike */
};

static const struct parameters normal = {0.1, 0.05, 0.5, 0.2, 1, 0.4, 6, false};

#define NOT_SOUGHT SIZE_MAX

struct view {
    struct hone_policy_ctx *ctx;
    struct parameters p;
    bool is_throttled, is_narrow, is_strict; /* limits that hold */
    double *lookahead; /* by version, log2: the most that an untried step there or beneath is worth;
                          -INFINITY: none is left */
    int *n_children;
    size_t *step; /* by version: its untried step of most hope; NOT_SOUGHT: not looked for yet */
    int n_done[HONE_CREDIT_MAX]; /* versions that a strategy made or is making, by its index */
};

static bool may_widen(const struct view *v, const struct hone_node *n)
{
    const struct hone_tree *t = v->ctx->tree;
    int n_root = 0, n_all = (int)t->n_edges, n_children = v->n_children[n->index];
    for (size_t i = 0; i < t->n_edges && n->index == 0; i++)
        n_root += t->edges[i].parent == 0;
    if (v->is_throttled && n->index == 0 && n_all >= v->p.root_free &&
        n_root >= v->p.root_share * n_all)
        return false;
    for (size_t i = 0; i < t->n_edges; i++) /* what will likely be one */
        n_children += t->edges[i].is_under_way && t->edges[i].parent == n->index;
    return !v->is_narrow || n_children < 2 * sqrt(n->n_visits + n->n_under_way);
}

/* Could two more steps of this version, each at its upper bound, beat the best? */
static bool can_beat(const struct view *v, const struct hone_node *n)
{
    const struct hone_tree *t = v->ctx->tree;
    double first = 0, second = 0;
    for (size_t i = 0; i < n->n_actions; i++) {
        double high = hone_policy_may_take(v->ctx, &n->actions[i]) ? n->actions[i].high : 0;
        if (high > first) {
            second = first;
            first = high;
        } else if (high > second) {
            second = high;
        }
    }
    return t->best == HONE_NO_NODE || hone_node_corrected_value(t, n) + first + second >
                                          hone_node_corrected_value(t, t->nodes[t->best]);
}

/* What a step may bring and teach, log2. What a strategy does to one version it will likely do to
 * others, so the first time says most. */
static double hope_of(const struct view *v, const struct hone_action *a)
{
    int n_done = v->n_done[hone_strategy_index(a->strategy)];
    return v->p.utility_share * a->utility + v->p.novelty * a->p_impl / (1 + n_done);
}

/* A strategy that was never done in this search and that the best version no longer offers: the
 * alternative to something on the way there, to be had at its ancestors alone. Writing the kernel
 * anew is none: it keeps nothing of the way. */
static bool is_closed_off(const struct view *v, const struct hone_node *n,
                          const struct hone_action *a)
{
    const struct hone_tree *t = v->ctx->tree;
    if (t->best == HONE_NO_NODE || v->n_done[hone_strategy_index(a->strategy)] > 0 ||
        strcmp(a->strategy->id, HONE_STRATEGY_NEW) == 0)
        return false;
    const struct hone_node *best = t->nodes[t->best];
    if (!best->is_expanded ||
        hone_node_corrected_value(t, n) + a->high <= hone_node_corrected_value(t, best) ||
        !hone_tree_is_on_the_way(t, n->index))
        return false;
    for (size_t i = 0; i < best->n_actions; i++)
        if (best->actions[i].strategy == a->strategy)
            return false;
    return true;
}

/* What a step is worth, log2. One that the best version has closed off counts as if it stood there:
 * what was won since will mostly be won beside the alternative too, and whether it is the better
 * one is not to be learnt beneath the best. */
static double worth_of(const struct view *v, const struct hone_node *n, const struct hone_action *a)
{
    const struct hone_tree *t = v->ctx->tree;
    return hone_node_corrected_value(t, is_closed_off(v, n, a) ? t->nodes[t->best] : n) +
           hope_of(v, a);
}

/* By how much a planning model or the user make it likelier than the rules do, log2. */
static double pull_of(const struct hone_action *a)
{
    return a->p_rules > 0 ? log2(a->prior / a->p_rules) : 0;
}

/* The untried step of most hope, or that others pull more; n_actions: none. */
static size_t find_step(const struct view *v, struct hone_node *n)
{
    size_t best = hone_policy_best_action(v->ctx, n);
    double most = -INFINITY;
    for (size_t i = best; i < n->n_actions && !v->p.is_flat; i++) {
        const struct hone_action *a = &n->actions[i];
        bool may = hone_policy_may_take(v->ctx, a);
        double score = may ? worth_of(v, n, a) + pull_of(a) : -INFINITY;
        if (score > most) {
            most = score;
            best = i;
        }
    }
    return best;
}

/* The same; nothing is learnt during a pick, so that it is sought once. */
static size_t best_step(const struct view *v, struct hone_node *n)
{
    if (v->step[n->index] == NOT_SOUGHT)
        v->step[n->index] = find_step(v, n);
    return v->step[n->index];
}

/* What the version's best untried step is worth; -INFINITY: it has none that may be tried now. */
static double worth_of_step(const struct view *v, struct hone_node *n)
{
    size_t action = best_step(v, n);
    bool is_worth = n->index == 0 || !v->is_strict || can_beat(v, n);
    if (action >= n->n_actions || !is_worth || !may_widen(v, n))
        return -INFINITY;
    return v->p.is_flat ? hone_node_corrected_value(v->ctx->tree, n)
                        : worth_of(v, n, &n->actions[action]);
}

/* Children come after their parents, so that one way back sums the tree up. */
static void look_ahead(struct view *v)
{
    const struct hone_tree *t = v->ctx->tree;
    for (int i = 0; i < t->n_nodes; i++) {
        v->n_children[i] = 0;
        v->lookahead[i] = -INFINITY;
        if (i > 0)
            v->n_children[t->nodes[i]->parent]++;
    }
    for (int i = t->n_nodes - 1; i >= 0; i--) {
        struct hone_node *n = t->nodes[i];
        if (n->is_refuted || (v->is_strict && n->is_dead)) {
            v->lookahead[i] = -INFINITY;
            continue;
        }
        v->lookahead[i] = fmax(v->lookahead[i], worth_of_step(v, n));
        if (i > 0)
            v->lookahead[n->parent] = fmax(v->lookahead[n->parent], v->lookahead[i]);
    }
}

/* most: what lies ahead, of the version's own steps or of all beneath it. */
static double q_of(const struct view *v, const struct hone_node *n, double most)
{
    double mean = n->sum / n->n_visits;
    return SCALE * ((1 - v->p.max_share) * mean + v->p.max_share * most);
}

static double prior_of(const struct view *v, double prior)
{
    return v->p.is_flat ? 0.125 : prior;
}

struct choice {
    double score;
    int child; /* HONE_NO_NODE: a new step */
};

static struct choice choose(const struct view *v, struct hone_node *n)
{
    const struct hone_tree *t = v->ctx->tree;
    double root = sqrt(1 + n->n_visits + n->n_under_way), worth = worth_of_step(v, n);
    struct choice out = {-INFINITY, HONE_NO_NODE};
    for (int i = n->index + 1; i < t->n_nodes; i++) {
        const struct hone_node *child = t->nodes[i];
        if (child->parent != n->index || v->lookahead[i] == -INFINITY)
            continue;
        double p = child->step_prior > 0 ? child->step_prior : 0.1;
        double score = q_of(v, child, v->lookahead[i]) +
                       v->p.c * prior_of(v, p) * root / (1 + child->n_visits + child->n_under_way);
        if (score > out.score)
            out = (struct choice){score, i};
    }
    if (worth > -INFINITY) {
        double prior = n->actions[best_step(v, n)].prior;
        double score = q_of(v, n, worth) + v->p.c * prior_of(v, prior) * root;
        if (score > out.score)
            out = (struct choice){score, HONE_NO_NODE};
    }
    return out;
}

static double alike(const struct hone_action *a)
{
    (void)a;
    return 1;
}

static void choose_action(const struct view *v, struct hone_node *n, struct hone_pick *ret)
{
    double (*weight)(const struct hone_action *) = v->p.is_flat ? alike : NULL;
    double epsilon = v->p.is_flat ? 1 : v->p.epsilon, chance = 0, total = 0;
    size_t best = best_step(v, n);
    ret->action = best;
    if (hone_policy_random(v->ctx) < epsilon)
        ret->action = hone_policy_draw(v->ctx, n, weight, &chance);
    for (size_t i = 0; i < n->n_actions; i++)
        total += !hone_policy_may_take(v->ctx, &n->actions[i]) ? 0
                 : v->p.is_flat                                ? 1
                                                               : n->actions[i].prior;
    double own = v->p.is_flat ? 1 : n->actions[ret->action].prior;
    ret->propensity = (1 - epsilon) * (ret->action == best) + epsilon * own / total;
}

static bool descend(struct view *v, struct hone_pick *ret)
{
    struct hone_node *n = v->ctx->tree->nodes[0];
    look_ahead(v);
    for (;;) {
        struct choice c = choose(v, n);
        if (c.child != HONE_NO_NODE) {
            n = v->ctx->tree->nodes[c.child];
            continue;
        }
        if (c.score == -INFINITY)
            return false;
        *ret = (struct hone_pick){.node = n->index, .score = c.score};
        choose_action(v, n, ret);
        return true;
    }
}

static void count_done(struct view *v)
{
    const struct hone_tree *t = v->ctx->tree;
    for (size_t i = 0; i < t->n_edges; i++)
        if (t->edges[i].strategy && (t->edges[i].child != HONE_NO_NODE || t->edges[i].is_under_way))
            v->n_done[hone_strategy_index(t->edges[i].strategy)]++;
}

static bool pick_with(struct hone_policy_ctx *ctx, struct parameters p, struct hone_pick *ret)
{
    size_t n = (size_t)ctx->tree->n_nodes;
    if (n == 0)
        return false;
    HONE_AUTOFREE double *lookahead = hone_calloc(n, sizeof(*lookahead));
    HONE_AUTOFREE int *n_children = hone_calloc(n, sizeof(*n_children));
    HONE_AUTOFREE size_t *step = hone_calloc(n, sizeof(*step));
    for (size_t i = 0; i < n; i++)
        step[i] = NOT_SOUGHT;
    struct view v = {ctx, p, true, true, true, lookahead, n_children, step, {0}};
    count_done(&v);
    if (descend(&v, ret))
        return true;
    v.is_throttled = false;
    if (descend(&v, ret))
        return true;
    v.is_narrow = false;
    if (descend(&v, ret))
        return true;
    v.is_strict = false; /* dead branches get another look before the search ends */
    return descend(&v, ret);
}

static bool pick(struct hone_policy_ctx *ctx, struct hone_pick *ret)
{
    return pick_with(ctx, normal, ret);
}

static bool pick_flat(struct hone_policy_ctx *ctx, struct hone_pick *ret)
{
    struct parameters p = normal;
    p.is_flat = true;
    return pick_with(ctx, p, ret);
}

static bool pick_mean(struct hone_policy_ctx *ctx, struct hone_pick *ret)
{
    struct parameters p = normal;
    p.max_share = 0;
    return pick_with(ctx, p, ret);
}

const struct hone_policy hone_policy_puct = {
    .name = "puct", .words = "tree search with priors that follow what was learnt", .pick = pick};
const struct hone_policy hone_policy_puct_flat = {
    .name = "puct-flat", .words = "puct without priors and expectations", .pick = pick_flat};
const struct hone_policy hone_policy_puct_mean = {
    .name = "puct-mean", .words = "puct without the lookahead in its back-up", .pick = pick_mean};
