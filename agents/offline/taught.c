/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/offline/taught.h"

#include <math.h>

#include "agents/planner/prior.h"

/* A search's first n steps are those of a search of n steps. */
static double evaluations(const struct hone_sim *sim, size_t pupil,
                          const struct hone_sim_options *like, int64_t seed)
{
    const struct hone_policy *policy = hone_policy_find("puct");
    struct hone_sim_options o = *like;
    for (o.n_expansions = 1; o.n_expansions <= HONE_TAUGHT_MOST; o.n_expansions++)
        if (hone_sim_search(sim, pupil, policy, &o, seed, NULL) <= log2(1 / 0.95))
            break;
    return (double)o.n_expansions;
}

void hone_taught_compare(const struct hone_sim *sim, size_t teacher, size_t pupil,
                         const struct hone_sim_options *options, struct hone_taught *ret)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_prior *prior = hone_pool_alloc(pool, sizeof(*prior));
    const struct hone_prior **priors = hone_pool_alloc(pool, (pupil + 1) * sizeof(*priors));
    priors[pupil] = prior;
    struct hone_sim_options with = *options, without = *options;
    with.priors = priors;
    without.priors = NULL;
    *ret = (struct hone_taught){.with = 0};
    for (int64_t seed = 1; seed <= options->n_seeds; seed++) {
        /* the teacher's luck is not the pupil's */
        *prior = (struct hone_prior){.n_lattices = 1};
        hone_sim_teach(sim, teacher, &without, seed + 100000, prior);
        ret->with += evaluations(sim, pupil, &with, seed) / (double)options->n_seeds;
        ret->without += evaluations(sim, pupil, &without, seed) / (double)options->n_seeds;
    }
}
