/* What lattices teach of strategies before a search begins: the mean gain of each, over kernels,
 * and how much kernels differ. It stands between the catalogue's guess and what the search sees
 * itself.
 *
 * Every kernel counts once for a strategy, whatever the number of its states. Lattices whose
 * repeats scatter too much teach nothing. Deterministic. */
#ifndef HONE_AGENTS_PRIOR_H
#define HONE_AGENTS_PRIOR_H

#include "agents/credit.h"
#include "agents/lattice.h"

struct hone_prior {
    struct hone_credit_cell gains[HONE_CREDIT_MAX]; /* by index in the catalogue */
    size_t n_lattices;                              /* that it was made from */
};

/* From all lattices but one (skip; n or more: none is left out), and but those of the same task. */
void hone_prior_fit(struct hone_lattice *const *lattices, size_t n, size_t skip,
                    struct hone_prior *ret);
/* A fresh credit that starts from it; NULL: from the catalogue alone. */
void hone_prior_begin(const struct hone_prior *prior, struct hone_credit *ret);
/* Quiet enough to be believed: three repeats and more, with a median spread below 6 %. */
bool hone_prior_believes(const struct hone_lattice *lattice);

#endif
