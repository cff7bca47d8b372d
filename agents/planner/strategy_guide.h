/* SPDX-License-Identifier: Apache-2.0 */
/* Strategy guides: how a strategy is carried out and where it goes wrong, a line each, for those who
 * write code. What it is, when it helps and what must move stand in the catalogue. A constant table;
 * any thread. */
#ifndef HONE_AGENTS_STRATEGY_GUIDE_H
#define HONE_AGENTS_STRATEGY_GUIDE_H

#include "agents/planner/catalogue.h"

struct hone_card {
    const char *target, *id;
    const char *how, *pitfalls;
};
extern const struct hone_card hone_strategy_guide[];
extern const size_t hone_n_cards;
const struct hone_card *hone_card_of(const struct hone_strategy *strategy); /* NULL: has none */
/* What, when, how, what must move, pitfalls; in the pool. */
const char *hone_card_text(const struct hone_strategy *strategy, struct hone_pool *pool);

#endif
