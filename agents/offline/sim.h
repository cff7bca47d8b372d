/* SPDX-License-Identifier: Apache-2.0 */
/* Searches replayed in memory on lattices, with the same policies, priors, mask, credit and tree as
 * real ones: only the coder and the clock are simulated.
 *
 * The coder turns one strategy on; it fails by a chance of its own for each strategy. The clock
 * answers with one of the recorded repeats. Both are the same for all policies of a seed, whatever
 * they ask first. What is shipped is the version that looked best; its regret is what the best
 * state truly gains beyond it, in log2. A text that is known costs no expansion. */
#ifndef HONE_AGENTS_SIM_H
#define HONE_AGENTS_SIM_H

#include "agents/offline/lattice.h"
#include "agents/planner/policy.h"

struct hone_prior;      /* agents/planner/prior.h */
struct hone_cost_model; /* agents/planner/cost_model.h */

struct hone_sim_options {
    int64_t n_expansions, n_seeds;
    int64_t n_coders; /* steps under way at a time, at most HONE_MAX_CODERS; 0: one */
    double failure;   /* mean chance that the coder fails; strategies differ: 0 to twice that */
    const struct hone_prior *const
        *priors; /* one for each lattice, fitted without it; NULL: none */
    const struct hone_prior *const *learned;   /* the same for policies that are learned */
    const struct hone_cost_model *const *cost; /* one for each lattice; NULL: none */
    double cost_limit; /* steps whose chance of a gain is below it are not offered */
};

struct hone_sim_score { /* of one policy */
    const struct hone_policy *policy;
    double *by_kernel;                /* mean regret over the seeds */
    double regret, low, high;         /* over kernels; 95 % by bootstrap over kernels */
    double over_low, over, over_high; /* this regret less that of the first policy, paired */
    double expansions;                /* that were used, mean */
};

struct hone_sim; /* lattices, prepared */
struct hone_sim *hone_sim_new(struct hone_lattice *const *lattices, size_t n);
void hone_sim_free(struct hone_sim *sim);
/* One search; regret in log2. Deterministic in its arguments. */
double hone_sim_search(const struct hone_sim *sim, size_t lattice, const struct hone_policy *policy,
                       const struct hone_sim_options *options, int64_t seed,
                       int64_t *ret_expansions);
/* What a search by puct leaves of each strategy: the mean of the gains that it measured, as one
 * look. */
void hone_sim_teach(const struct hone_sim *sim, size_t lattice,
                    const struct hone_sim_options *options, int64_t seed, struct hone_prior *ret);
/* All kernels, all seeds. ret[n_policies], arrays in the pool. Any thread, many may run. */
void hone_sim_compare(const struct hone_sim *sim, const struct hone_policy *const *policies,
                      size_t n_policies, const struct hone_sim_options *options,
                      struct hone_pool *pool, struct hone_sim_score *ret);

#endif
