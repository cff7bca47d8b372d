/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of strategies before a search begins: the mean gain of each, over kernels, and how
 * much kernels differ. It stands between the catalogue's guess and what the search sees itself.
 * Recorded lattices teach it (agents/offline/prior_fit.h). */
#ifndef HONE_AGENTS_PRIOR_H
#define HONE_AGENTS_PRIOR_H

#include "agents/planner/credit.h"

struct hone_prior {
    struct hone_credit_cell gains[HONE_CREDIT_MAX]; /* by index in the catalogue */
    size_t n_lattices;                              /* that it was made from */
};

/* A fresh credit that starts from it; NULL: from the catalogue alone. */
void hone_prior_begin(const struct hone_prior *prior, struct hone_credit *ret);

#endif
