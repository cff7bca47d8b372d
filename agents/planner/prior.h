/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of strategies before a search begins: the mean gain of each, over kernels, and how
 * much kernels differ. It stands between the catalogue's guess and what the search sees itself.
 * Recorded lattices teach it (agents/offline/prior_fit.h), and rows of earlier searches do
 * (agents/knowledge/knowledge.h). */
#ifndef HONE_AGENTS_PRIOR_H
#define HONE_AGENTS_PRIOR_H

#include "agents/planner/credit.h"
#include "workspace/base/json.h"

struct hone_prior {
    struct hone_credit_cell gains[HONE_CREDIT_MAX]; /* by index in the catalogue */
    size_t n_lattices;                              /* that it was made from */
};

/* One strategy's part of a prior, as the record of a search's start holds it (search.start, prior):
 * an array of these, gains in log2, each kernel or search one look. */
struct hone_prior_row {
    const char *strategy; /* catalogue id */
    double n, sum, sum2;
    struct hone_strs from; /* ids of the searches that it is from */
};
/* Owned. */
struct hone_json *hone_prior_rows_json(const struct hone_prior_row *rows, size_t n);
/* Rows that are none, or name an unknown strategy, are left out. NULL: no rows. */
void hone_prior_take(const struct hone_json *rows, const char *target, struct hone_credit *credit);

/* A fresh credit that starts from it; NULL: from the catalogue alone. */
void hone_prior_begin(const struct hone_prior *prior, struct hone_credit *ret);

#endif
