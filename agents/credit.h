/* What was learnt about strategies: how often they are really done, and what they bring when they
 * are.
 *
 * The two are kept apart: a rewrite that fails to compile says nothing about the idea. Gains enter
 * as noise-aware g_eff. */
#ifndef HONE_AGENTS_CREDIT_H
#define HONE_AGENTS_CREDIT_H

#include "agents/catalogue.h"

enum { HONE_CREDIT_MAX = 128 };

struct hone_credit_row {
    double done, not_done;              /* of Beta: starts at 4 * 0.85, 4 * 0.15 */
    double n_gain, sum_gain, sum_gain2; /* log2, of those done */
};
struct hone_credit {
    struct hone_credit_row rows[HONE_CREDIT_MAX]; /* by index in the catalogue */
};

void hone_credit_init(struct hone_credit *credit);
/* Posterior: chance that it is done, mean gain and the bounds of an 80 % interval, in log2. */
void hone_credit_expect(const struct hone_credit *credit, const struct hone_strategy *strategy,
                        double *ret_p_impl, double *ret_low, double *ret_gain, double *ret_high);
void hone_credit_failed(struct hone_credit *credit, const struct hone_strategy *strategy);
/* did_move: the must-move feature moved as stated. */
void hone_credit_done(struct hone_credit *credit, const struct hone_strategy *strategy,
                      double g_eff, bool did_move);
/* log2 gain with its noise taken off: sign(g) * max(0, |g| - 2 se - 0.004). */
double hone_effective_gain(double log2_gain, double se_parent, double se_child);

#endif
