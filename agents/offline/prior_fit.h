/* SPDX-License-Identifier: Apache-2.0 */
/* What lattices teach of strategies (agents/planner/prior.h).
 *
 * Every kernel counts once for a strategy, whatever the number of its states. Lattices whose
 * repeats scatter too much teach nothing. Deterministic. Any thread.
 *
 * With hone_prior_fit_like a kernel counts by how like it is to the one that is left out: a Gaussian
 * kernel (Nadaraya 1964, Watson 1964) over the features of the baselines, each in standard
 * deviations over the lattices of the target. */
#ifndef HONE_AGENTS_PRIOR_FIT_H
#define HONE_AGENTS_PRIOR_FIT_H

#include "agents/offline/lattice.h"
#include "agents/planner/prior.h"

/* From all lattices but one (skip; n or more: none is left out), and but its relatives: those of the
 * same task or family, on whatever target. */
void hone_prior_fit(struct hone_lattice *const *lattices, size_t n, size_t skip,
                    struct hone_prior *ret);
/* The same, weighted by likeness to lattice skip, which must be one of them; nothing of it but the
 * features of its baseline is read. */
void hone_prior_fit_like(struct hone_lattice *const *lattices, size_t n, size_t skip,
                         struct hone_prior *ret);

#endif
