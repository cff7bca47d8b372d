/* PUCT over the version tree.
 *
 * From the root down: at a version, its living children and its best untried step compete by
 *     Q + c * P * sqrt(1 + N) / (1 + n)
 * Q is in log2 units scaled by 1/2. A child's Q mixes mean and maximum of what lies beneath: only
 * the best kernel is shipped, the mean keeps noise in check. An untried step starts from its
 * version's own value, a little below, plus a share of what is expected of it.
 *
 *   widening      at most 2 sqrt(N) children
 *   throttle      after six expansions the root gets at most 40 % of them
 *   dead          three expansions without gain in a row beneath a version, or its optimistic bound
 *                 (the two best upper 80 % gains that are left) cannot beat the best
 *   exploration   with a small probability the step is drawn from P; the propensity says so
 *
 * Limits are lifted one after the other when nothing else is left. Budgets of a dozen expansions
 * have parameters of their own. Rows "puct-flat" and "puct-mean" leave one part out, for
 * comparison.
 */
#include "agents/policy.h"

#include <math.h>

#define SCALE 0.5

struct parameters {
    double c, epsilon;
    double max_share;     /* of the maximum in Q */
    double fpu;           /* first-play value: so much below the version's own */
    double utility_share; /* of the expected gain that a first play is credited with */
    double root_share;
    int root_free;
    bool is_flat; /* all steps alike */
};

static const struct parameters normal = {1.0, 0.1, 0.5, 0.1, 0.5, 0.4, 6, false};
static const struct parameters small = {0.5, 0.1, 0.5, 0.1, 0.5, 0.4, 6, false};

struct view {
    struct hone_policy_ctx *ctx;
    struct parameters p;
    bool is_throttled, is_narrow, is_strict; /* limits that hold */
};

static double node_q(const struct view *v, const struct hone_node *n)
{
    double mean = n->sum / n->n_visits;
    return SCALE * ((1 - v->p.max_share) * mean + v->p.max_share * n->best);
}

static bool may_widen(const struct view *v, const struct hone_node *n, int n_children)
{
    const struct hone_tree *t = v->ctx->tree;
    int n_root = 0, n_all = (int)t->n_edges;
    for (size_t i = 0; i < t->n_edges; i++)
        n_root += t->edges[i].parent == 0;
    if (v->is_throttled && n->index == 0 && n_all >= v->p.root_free &&
        n_root >= v->p.root_share * n_all)
        return false;
    return !v->is_narrow || n_children < 2 * sqrt(n->n_visits);
}

/* Could two more steps of this version, each at its upper bound, beat the best? */
static bool can_beat(const struct view *v, const struct hone_node *n)
{
    const struct hone_tree *t = v->ctx->tree;
    double first = 0, second = 0;
    for (size_t i = 0; i < n->n_actions; i++) {
        double high = n->actions[i].is_tried ? 0 : n->actions[i].high;
        if (high > first) {
            second = first;
            first = high;
        } else if (high > second) {
            second = high;
        }
    }
    return t->best == HONE_NO_NODE || n->value + first + second > t->nodes[t->best]->value;
}

/* Is anything left to try at the version or beneath it? */
static bool is_open(const struct view *v, int index)
{
    const struct hone_tree *t = v->ctx->tree;
    struct hone_node *n = t->nodes[index];
    if (n->is_refuted || (v->is_strict && n->is_dead))
        return false;
    if (hone_policy_best_action(v->ctx, n) < n->n_actions && (!v->is_strict || can_beat(v, n)))
        return true;
    for (int i = index + 1; i < t->n_nodes; i++)
        if (t->nodes[i]->parent == index && is_open(v, i))
            return true;
    return false;
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
    double root = sqrt(1 + n->n_visits);
    struct choice out = {-INFINITY, HONE_NO_NODE};
    int n_children = 0;
    size_t action = hone_policy_best_action(v->ctx, n);
    for (int i = n->index + 1; i < t->n_nodes; i++) {
        const struct hone_node *child = t->nodes[i];
        if (child->parent != n->index)
            continue;
        n_children++;
        double p = child->step_prior > 0 ? child->step_prior : 0.1;
        double score = node_q(v, child) + v->p.c * prior_of(v, p) * root / (1 + child->n_visits);
        if (score > out.score && is_open(v, i))
            out = (struct choice){score, i};
    }
    bool is_worth = n->index == 0 || !v->is_strict || can_beat(v, n);
    if (action < n->n_actions && is_worth && may_widen(v, n, n_children)) {
        const struct hone_action *a = &n->actions[action];
        double expected = v->p.is_flat ? 0 : v->p.utility_share * a->utility;
        double score =
            SCALE * (n->value + expected) - v->p.fpu + v->p.c * prior_of(v, a->prior) * root;
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
    size_t best = hone_policy_best_action(v->ctx, n);
    ret->action = best;
    if (hone_policy_random(v->ctx) < epsilon)
        ret->action = hone_policy_draw(v->ctx, n, weight, &chance);
    for (size_t i = 0; i < n->n_actions; i++)
        total += n->actions[i].is_tried ? 0 : v->p.is_flat ? 1 : n->actions[i].prior;
    double own = v->p.is_flat ? 1 : n->actions[ret->action].prior;
    ret->propensity = (1 - epsilon) * (ret->action == best) + epsilon * own / total;
}

static bool descend(const struct view *v, struct hone_pick *ret)
{
    struct hone_node *n = v->ctx->tree->nodes[0];
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

static bool pick_with(struct hone_policy_ctx *ctx, struct parameters p, struct hone_pick *ret)
{
    struct view v = {ctx, p, true, true, true};
    if (ctx->tree->n_nodes == 0)
        return false;
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
    return pick_with(ctx, ctx->is_small ? small : normal, ret);
}

static bool pick_flat(struct hone_policy_ctx *ctx, struct hone_pick *ret)
{
    struct parameters p = ctx->is_small ? small : normal;
    p.is_flat = true;
    return pick_with(ctx, p, ret);
}

static bool pick_mean(struct hone_policy_ctx *ctx, struct hone_pick *ret)
{
    struct parameters p = ctx->is_small ? small : normal;
    p.max_share = 0;
    return pick_with(ctx, p, ret);
}

const struct hone_policy hone_policy_puct = {
    .name = "puct", .words = "tree search with priors that follow what was learnt", .pick = pick};
const struct hone_policy hone_policy_puct_flat = {
    .name = "puct-flat", .words = "puct without priors and expectations", .pick = pick_flat};
const struct hone_policy hone_policy_puct_mean = {
    .name = "puct-mean", .words = "puct without the maximum in its back-up", .pick = pick_mean};
