/* SPDX-License-Identifier: Apache-2.0 */
/* What the planner does with one outcome. The search and the simulator call the same functions, so
 * that what is measured on lattices is what runs.
 *
 * Search value and record are two things: versions are ranked by log2(T_root / T) alone;
 * the reward of an edge (with what was expected and what it cost) is written for a prior
 * that is learnt later. */
#ifndef HONE_AGENTS_PLANNER_H
#define HONE_AGENTS_PLANNER_H

#include "agents/planner/step_mask.h"

#define HONE_PLANNER_VERSION 2 /* of what an edge record means */

enum hone_step_end {
    HONE_STEP_RIGHT,
    HONE_STEP_REFUSED,  /* nothing was evaluated: the coder could not, or the text is known */
    HONE_STEP_DECLINED, /* the coder says that it cannot help here: as if it had not been legal */
    HONE_STEP_COMPILE,
    HONE_STEP_WRONG,
    HONE_STEP_CRASH,   /* or the time limit */
    HONE_STEP_CHEATED, /* invalid, suspicious: nothing is learnt of the strategy */
    HONE_STEP_MACHINE  /* infra: nobody's fault */
};

struct hone_step { /* one expansion, finished */
    struct hone_node *from;
    const struct hone_action *action;
    enum hone_step_end end;
    struct hone_node *node;     /* RIGHT: the version it made, or that had the same code */
    double cost_share;          /* of the budget; 0: unknown */
    const char *verdict, *note; /* in words, of what is no version; may be NULL */
};

struct hone_step_result {
    enum hone_tri moved;      /* was the idea really carried out? */
    enum hone_class class_id; /* what limited the version before; HONE_N_CLASSES: not known */
    bool is_gain;
    double gain;   /* log2, measured; NaN without a version */
    double g_eff;  /* noise taken off; 0 without a version */
    double reward; /* for learning, see the head */
};

/* Adds a version, or finds the one that compiled to the same code: *ret_is_new. NULL: the tree is
 * full. source, commit as in hone_tree_add; code may be NULL. */
struct hone_node *hone_planner_add(struct hone_tree *tree, struct hone_node *from,
                                   const struct hone_action *action, const char *source,
                                   const char *commit, const char *code, double value, double se,
                                   bool *ret_is_new);
/* What the step says; changes nothing. The features of from and node must be filled in; node may be
 * a draft. */
void hone_planner_judge(const struct hone_step *step, struct hone_step_result *ret);
/* Credit, edge, back-up, counters. A declined step is an edge, so that it is not taken again, and
 * counts for the plateau; it says nothing of strategy, coder or branch. The features of from and
 * node must be filled in. */
void hone_planner_learn(struct hone_tree *tree, struct hone_credit *credit,
                        const struct hone_step *step, struct hone_step_result *ret);
/* The same with a result that is known: what hone_planner_judge filled in. */
void hone_planner_note(struct hone_tree *tree, struct hone_credit *credit,
                       const struct hone_step *step, const struct hone_step_result *result);
/* Did what must move move? Where that is a time, or is not known: did the machine code change? */
enum hone_tri hone_planner_evidence(const struct hone_strategy *strategy,
                                    const struct hone_node *from, const struct hone_node *to);
/* The same from the report's verdict alone. */
enum hone_step_end hone_step_end_of(enum hone_verdict verdict, const char *reason);

#endif
