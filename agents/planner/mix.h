/* SPDX-License-Identifier: Apache-2.0 */
/* Priors of a model mixed with those of the rules (docs/planner.md, "A model as planner").
 *
 *     P = 0.1 uniform + 0.9 * (w_rules * P_rules + w_llm * P_llm)
 *
 * The weights start at 0.35 and 0.20 of what is shared out, and follow how likely each held the
 * steps that brought a gain (exponential weights, rate 0.2, floor 0.05). A step from outside of the
 * catalogue has the prior 0.1. */
#ifndef HONE_AGENTS_MIX_H
#define HONE_AGENTS_MIX_H

#include "agents/planner/tree.h"

struct hone_mix {
    double rules, llm; /* add up to 1 */
};
void hone_mix_init(struct hone_mix *mix);
/* A step brought a gain: who held it likely? */
void hone_mix_learn(struct hone_mix *mix, double p_rules, double p_llm);

struct hone_steps_shown {                       /* what a model chose among */
    const char *const *ids, *const *strategies; /* strategies NULL: ids alone name a step */
    size_t n;
};

/* What a model said of a version's steps: its order of them as a distribution. */
struct hone_step_order {
    size_t order[HONE_TREE_MAX_ACTIONS]; /* indices of actions, best first */
    size_t n_order;
    const char *idea; /* NULL: none */
    double idea_log2;
    const char *left_out; /* in words: what the order named that is no step; NULL: nothing */
};
/* Reads the answer: one JSON object with "order" (ids, or strategies that one step alone has),
 * perhaps "idea" and "why", nothing else. What names no step is left out, and so is
 * what was named before; an order of which nothing is left refuses it all, the idea too. Strings in
 * the pool. HONE_E_ARG. */
int hone_step_order_parse(const char *answer, const struct hone_steps_shown *steps,
                          struct hone_pool *pool, struct hone_step_order *ret,
                          struct hone_err *err);
/* Fills in p_llm and w_llm: half of what is left to each in turn, a little to the rest. */
void hone_step_order_apply(const struct hone_step_order *review, const struct hone_mix *mix,
                           struct hone_action *actions, size_t n);
/* The last of n actions came after the order: it counts like one that was left out of the order.
 * Nothing without an order. */
void hone_step_order_extend(struct hone_action *actions, size_t n);
/* Priors of the rules (adding up to 1) become p_rules; prior becomes the mix. */
void hone_mix_priors(struct hone_action *actions, size_t n);

#endif
