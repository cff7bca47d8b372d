/* SPDX-License-Identifier: Apache-2.0 */
/* What was learnt about strategies: how often they are really done, and what they bring
 * when they are.
 *
 * The two are kept apart: a step that fails to compile says nothing about the idea. p_impl is a
 * Beta posterior, shrunk from the strategy towards the coder's rate over all strategies. Gains are
 * normal-inverse-gamma posteriors that start from the catalogue's guess (two pseudo-observations),
 * kept for each strategy and for each (strategy, bottleneck class), the latter shrunk towards the
 * former by four pseudo-observations. Gains enter as noise-aware g_eff. */
#ifndef HONE_AGENTS_CREDIT_H
#define HONE_AGENTS_CREDIT_H

#include "agents/planner/catalogue.h"

enum { HONE_CREDIT_MAX = 128 };

struct hone_credit_cell { /* gains seen, log2 */
    double n, sum, sum2;
};
struct hone_credit_row {
    double done, not_done;
    struct hone_credit_cell before; /* on other kernels (prior.h) */
    struct hone_credit_cell all, by_class[HONE_N_CLASSES];
    double favour;  /* what the user said (steer.h): its prior times this; 0: 1 */
    bool is_banned; /* the user did: it is no legal step */
};
struct hone_credit {
    double done, not_done;                        /* of the coder */
    struct hone_credit_row rows[HONE_CREDIT_MAX]; /* by index in the catalogue */
};

struct hone_expectation {
    double p_impl;
    double low, gain, high; /* log2, 80 % interval of the next one */
    double positive;        /* mean of max(0, gain) */
};

void hone_credit_init(struct hone_credit *credit);
/* class_id HONE_N_CLASSES: whatever limits the version. */
void hone_credit_predict(const struct hone_credit *credit, const struct hone_strategy *strategy,
                         enum hone_class class_id, struct hone_expectation *ret);
void hone_credit_failed(struct hone_credit *credit, const struct hone_strategy *strategy);
/* Did the user ban it? */
bool hone_credit_is_banned(const struct hone_credit *credit, const struct hone_strategy *strategy);
/* moved: was it really done? FALSE counts as not done and says nothing on the idea; UNKNOWN neither
 * credits nor refutes. */
void hone_credit_note(struct hone_credit *credit, const struct hone_strategy *strategy,
                      enum hone_class class_id, double g_eff, enum hone_tri moved);
/* log2 gain with its noise taken off: sign(g) * max(0, |g| - 2 se - 0.004). */
double hone_effective_gain(double log2_gain, double se_parent, double se_child);

#endif
