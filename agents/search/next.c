/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/search/next.h"

#include <math.h>
#include <string.h>

#define DECIDE_SHARE 0.17
#define DECIDE_AHEAD_LOG2                                                                          \
    0.15 /* a new best this much ahead of the last decided one is looked at longer */
#define SWEEP_AFTER      4 /* expansions without a new best */
#define CUDA_SWEEP_AFTER 2
#define PLATEAU_AFTER    24
#define CONFIRM_TRIES    3
#define WRONG_FREE       6 /* wrong versions that are no tries */
#define TREE_RESERVE     8 /* versions that an expansion and a sweep may still add */

/* What was asked for: looked at longer, so that it is not luck alone. */
static bool is_target_reached(const struct hone_outlook *o, const struct hone_node *best)
{
    return o->stop_at_speedup > 0 && best && best->value >= log2(o->stop_at_speedup);
}

static enum hone_stop_reason why_stop(const struct hone_outlook *o, const struct hone_node *best)
{
    const struct hone_tree *tree = &o->state->tree;
    double stop_at = o->stop_at_percent_of_bound > 0 ? o->stop_at_percent_of_bound : 95;
    int64_t plateau = o->plateau ? o->plateau : PLATEAU_AFTER;
    if (o->wants_stop)
        return HONE_STOP_STOPPED;
    if (o->over)
        return o->over;
    if (is_target_reached(o, best) && best->is_decided)
        return HONE_STOP_TARGET;
    if (best && hone_feature_or(&best->features, HONE_F_PERCENT_OF_BOUND, 0) >= stop_at)
        return HONE_STOP_NEAR_ROOF;
    if (tree->n_nodes + TREE_RESERVE > HONE_TREE_MAX_NODES)
        return HONE_STOP_TREE_FULL;
    /* who submits steps knows when to end */
    if (plateau > 0 && tree->n_since_best >= plateau && !o->is_external)
        return HONE_STOP_PLATEAU;
    return HONE_STOP_NONE;
}

/* Reasons that let what was begun end first; the others close the round at once. */
static bool waits_for_begun(enum hone_stop_reason why)
{
    return why == HONE_STOP_PLATEAU;
}

/* Comparable with this version. */
static double last_decided(const struct hone_tree *tree, const struct hone_node *beside)
{
    double value = 0;
    for (int i = 0; i < tree->n_nodes; i++)
        if (tree->nodes[i]->is_decided && !tree->nodes[i]->is_refuted)
            value = fmax(value, hone_node_value_paired(tree->nodes[i], beside));
    return value;
}

static bool wants_decide(const struct hone_outlook *o, const struct hone_node *best)
{
    const struct hone_state *st = o->state;
    if (is_target_reached(o, best) && !best->is_decided && best->index > 0)
        return o->may_look;
    if (best->is_decided || best->index == 0 ||
        best->value < last_decided(&st->tree, best) + DECIDE_AHEAD_LOG2)
        return false;
    int64_t wall = o->budget_wall_ms;
    /* right after a jump more is to come: look when at least one expansion brought nothing */
    double cost = (double)(st->decide_ms + o->look_ms);
    return st->tree.n_since_best >= 1 && o->may_look &&
           (wall <= 0 || cost < DECIDE_SHARE * (double)wall);
}

/* Tiles and fusions are as good as their sizes: what comes after them should start from swept ones.
 */
static bool is_tiling(const struct hone_node *n)
{
    static const char *const strategies[] = {"G05", "G26", "G31"};
    const struct hone_rewrite *r = hone_rewrite_find(n->rewrite);
    for (size_t i = 0; r && hone_rewrite_is_for(r, "cuda") && i < HONE_COUNTOF(strategies); i++)
        if (strcmp(r->strategy, strategies[i]) == 0)
            return true;
    return false;
}

static bool wants_sweep(const struct hone_outlook *o, const struct hone_node *best, bool is_last)
{
    int n_since_best = o->state->tree.n_since_best;
    if (best->is_swept || best->n_tunables == 0)
        return false;
    int64_t wall = o->budget_wall_ms;
    bool is_late = wall > 0 && o->elapsed_ms > wall * 45 / 100;
    if (strcmp(o->target, "cuda") == 0 && n_since_best >= CUDA_SWEEP_AFTER)
        return true;
    return is_last || is_late || n_since_best >= SWEEP_AFTER || is_tiling(best);
}

bool hone_closing_improves(const struct hone_closing *c, enum hone_claim claim, double rank)
{
    if (c->node == HONE_NO_NODE)
        return true;
    return claim != c->claim ? claim > c->claim : rank > c->rank;
}

/* The best of short looks is partly luck: when a confirmation puts it behind another version, that
 * one is confirmed too while there is time. A wrong one is found early and costs little: some of
 * them are no tries. The baseline comes when nothing is ahead of it by what was measured, or after
 * the last try when nothing confirmed beats it. HONE_NO_NODE: none is due. */
static int to_confirm(const struct hone_closing *c, const struct hone_tree *tree)
{
    int n_tries = c->n_confirmed - (int)hone_min_i64(c->n_wrong, WRONG_FREE);
    if (tree->best == HONE_NO_NODE || tree->n_nodes == 1) /* a baseline alone says nothing */
        return HONE_NO_NODE;
    int node = n_tries < CONFIRM_TRIES                   ? tree->best
               : n_tries == CONFIRM_TRIES && c->rank < 1 ? 0
                                                         : HONE_NO_NODE;
    return node == c->node || node == c->tried ? HONE_NO_NODE : node;
}

static struct hone_decision close_round(const struct hone_outlook *o)
{
    const struct hone_closing *c = o->closing;
    bool may_confirm = o->may_confirm && !c->is_cut;
    int node = may_confirm ? to_confirm(c, &o->state->tree) : HONE_NO_NODE;
    if (node != HONE_NO_NODE)
        return (struct hone_decision){HONE_NEXT_CONFIRM, node, HONE_STOP_NONE};
    bool is_short =
        c->why == HONE_STOP_TARGET && c->node != HONE_NO_NODE && c->speedup < o->stop_at_speedup;
    enum hone_next what = is_short && may_confirm ? HONE_NEXT_REOPEN : HONE_NEXT_END;
    return (struct hone_decision){what, HONE_NO_NODE, c->why};
}

static enum hone_next next_step(enum hone_picked picked)
{
    static const enum hone_next steps[] = {
        [HONE_PICKED_NONE] = HONE_NEXT_PICK,
        [HONE_PICKED_UNRANKED] = HONE_NEXT_RERANK,
        [HONE_PICKED_STEP] = HONE_NEXT_TRY,
        [HONE_PICKED_STOP] = HONE_NEXT_CLOSE,
    };
    return steps[picked];
}

struct hone_decision hone_next(const struct hone_outlook *o)
{
    const struct hone_tree *tree = &o->state->tree;
    const struct hone_node *best = tree->best == HONE_NO_NODE ? NULL : tree->nodes[tree->best];
    bool is_exhausted = o->picked == HONE_PICKED_STOP;
    if (o->closing->why)
        return close_round(o);
    struct hone_decision d = {HONE_NEXT_BASELINE, HONE_NO_NODE, HONE_STOP_NONE};
    if (tree->n_nodes == 0)
        return d;
    d.why = why_stop(o, best);
    if (d.why && !waits_for_begun(d.why)) {
        d.what = HONE_NEXT_CLOSE;
    } else if (o->has_submission) {
        d.what = HONE_NEXT_SUBMISSION;
    } else if (best && wants_sweep(o, best, d.why || is_exhausted)) {
        d.what = HONE_NEXT_SWEEP;
        d.node = best->index;
    } else if (best && wants_decide(o, best)) {
        d.what = HONE_NEXT_DECIDE;
        d.node = best->index;
    } else if (!d.why && o->is_external) {
        d.what = HONE_NEXT_WAIT;
    } else if (o->has_ahead) {
        d.what = HONE_NEXT_ANSWER;
    } else if (d.why) {
        d.what = HONE_NEXT_CLOSE;
    } else {
        d.what = next_step(o->picked);
        d.why = is_exhausted ? HONE_STOP_EXHAUSTED : HONE_STOP_NONE;
    }
    return d;
}
