/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/planner/planner.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "workspace/base/text.h"
#include "workspace/base/limits.h"

#define NEW_BEST_LOG2  0.03 /* less is no progress */
#define MOVED_BONUS    0.1
#define SURPRISE_COST  0.1
#define COST_WEIGHT    0.05
#define REWARD_CLIP    3.0
#define COMPILE_REWARD -0.2
#define BROKEN_REWARD  -0.3
#define CHEATED_REWARD -1.0

enum hone_step_end hone_step_end_of(enum hone_verdict verdict, const char *reason)
{
    if (verdict == HONE_VERDICT_INFRA)
        return HONE_STEP_MACHINE;
    if (verdict == HONE_VERDICT_INVALID || verdict == HONE_VERDICT_SUSPICIOUS)
        return HONE_STEP_CHEATED;
    if (verdict == HONE_VERDICT_INCORRECT)
        return HONE_STEP_WRONG;
    if (verdict == HONE_VERDICT_FAILED)
        return strcmp(reason, "compile") == 0 || strcmp(reason, "link") == 0 ? HONE_STEP_COMPILE
                                                                             : HONE_STEP_CRASH;
    return HONE_STEP_RIGHT;
}

static bool is_a_time(enum hone_feature_id id)
{
    return id == HONE_F_NS || id == HONE_F_PERCENT_OF_BOUND || id == HONE_F_TIME_OVER_ROOF;
}

enum hone_tri hone_planner_evidence(const struct hone_strategy *s, const struct hone_node *from,
                                    const struct hone_node *to)
{
    struct hone_feature before = from->features.v[s->must_move],
                        after = to->features.v[s->must_move];
    /* what stands at 0 cannot go down: no word on the step, the code has to say it */
    bool can_move = s->direction > 0 || before.value > 0;
    if (!is_a_time(s->must_move) && before.is_present && after.is_present && can_move)
        return (s->direction > 0 ? after.value > before.value : after.value < before.value)
                   ? HONE_TRI_TRUE
                   : HONE_TRI_FALSE;
    if (!*from->code || !*to->code)
        return HONE_TRI_UNKNOWN;
    return strcmp(from->code, to->code) == 0 ? HONE_TRI_FALSE : HONE_TRI_TRUE;
}

struct hone_node *hone_planner_add(struct hone_tree *tree, struct hone_node *from,
                                   const struct hone_action *action, const char *source,
                                   const char *commit, const char *code, double value, double se,
                                   bool *ret_is_new)
{
    struct hone_node *known = hone_tree_find_code(tree, code);
    *ret_is_new = !known;
    if (known)
        return known;
    struct hone_node *n = hone_tree_add(tree, from->index, source, commit, value, se);
    if (!n)
        return NULL;
    n->rewrite = action->rewrite->name;
    n->step_prior = action->prior;
    if (code)
        snprintf(n->code, sizeof(n->code), "%s", code);
    return n;
}

static double reward_of(const struct hone_step *step, const struct hone_step_result *r)
{
    static const double fixed[] = {
        [HONE_STEP_REFUSED] = COMPILE_REWARD,
        [HONE_STEP_COMPILE] = COMPILE_REWARD,
        [HONE_STEP_DECLINED] = 0,
        [HONE_STEP_WRONG] = BROKEN_REWARD,
        [HONE_STEP_CRASH] = BROKEN_REWARD,
        [HONE_STEP_CHEATED] = CHEATED_REWARD,
        [HONE_STEP_MACHINE] = 0,
    };
    if (step->end != HONE_STEP_RIGHT)
        return fixed[step->end];
    return fmax(-REWARD_CLIP, fmin(REWARD_CLIP, r->g_eff)) +
           (r->moved == HONE_TRI_TRUE ? MOVED_BONUS : 0) -
           SURPRISE_COST * fmin(1, fabs(step->action->gain - r->gain)) -
           COST_WEIGHT * step->cost_share;
}

static double best_besides(const struct hone_tree *tree, const struct hone_node *node)
{
    double best = -INFINITY;
    for (int i = 0; i < tree->n_nodes; i++)
        if (tree->nodes[i] != node && !tree->nodes[i]->is_refuted)
            best = fmax(best, hone_node_value_paired(tree->nodes[i], node));
    return best;
}

/* As much of it as is ever shown. */
static const char *keep(struct hone_tree *tree, const char *text)
{
    return text ? hone_plain_line(tree->pool, text, HONE_LIMIT_TRIED_BYTES) : NULL;
}

void hone_planner_note(struct hone_tree *tree, struct hone_credit *credit,
                       const struct hone_step *step, const struct hone_step_result *r)
{
    const struct hone_action *a = step->action;
    const struct hone_node *to = step->node;
    if (step->end == HONE_STEP_RIGHT)
        hone_credit_note(credit, a->strategy, r->class_id, r->g_eff, r->moved);
    else if (step->end == HONE_STEP_COMPILE || step->end == HONE_STEP_WRONG ||
             step->end == HONE_STEP_CRASH)
        hone_credit_failed(credit, a->strategy);
    bool is_best = to && to->value > best_besides(tree, to) + NEW_BEST_LOG2;
    tree->n_since_best = is_best ? 0 : tree->n_since_best + 1;
    struct hone_edge_record edge = {.parent = step->from->index,
                                    .rewrite = a->rewrite->name,
                                    .variant = a->site.variant,
                                    .is_implemented = r->moved == HONE_TRI_TRUE,
                                    .is_gain = r->is_gain,
                                    .is_declined = step->end == HONE_STEP_DECLINED,
                                    .gain = r->g_eff};
    edge.strategy = a->strategy;
    edge.child = to ? to->index : HONE_NO_NODE;
    edge.verdict = keep(tree, step->verdict);
    edge.note = to ? NULL : keep(tree, step->note);
    edge.plan = keep(tree, a->plan);
    memcpy(edge.anchor, a->site.anchor, sizeof(edge.anchor));
    hone_tree_note_edge(tree, &edge);
    if (!edge.is_declined)
        hone_tree_back_up(tree, step->from->index, to ? to->value : (double)NAN, r->is_gain);
}

void hone_planner_judge(const struct hone_step *step, struct hone_step_result *ret)
{
    const struct hone_node *from = step->from, *to = step->node;
    *ret = (struct hone_step_result){.moved = HONE_TRI_UNKNOWN,
                                     .class_id = from->n_findings ? from->findings[0].class_id
                                                                  : HONE_N_CLASSES,
                                     .gain = (double)NAN};
    if (to) {
        ret->moved = hone_planner_evidence(step->action->strategy, from, to);
        ret->gain = hone_node_gain(from, to);
        ret->g_eff = hone_effective_gain(ret->gain, from->se, to->se);
        ret->is_gain = ret->g_eff > 0;
    }
    ret->reward = reward_of(step, ret);
}

void hone_planner_learn(struct hone_tree *tree, struct hone_credit *credit,
                        const struct hone_step *step, struct hone_step_result *ret)
{
    hone_planner_judge(step, ret);
    hone_planner_note(tree, credit, step, ret);
}
