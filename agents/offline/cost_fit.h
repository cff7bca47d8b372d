/* SPDX-License-Identifier: Apache-2.0 */
/* Cost models (agents/planner/cost_model.h) from lattices, one for each kernel without the kernel
 * itself and its relatives, and how well they predict it. Deterministic. Any thread. */
#ifndef HONE_AGENTS_COST_FIT_H
#define HONE_AGENTS_COST_FIT_H

#include "agents/offline/lattice.h"
#include "agents/planner/cost_model.h"

struct hone_cost_score { /* on kernels that the models have not seen, each weighing the same */
    double error;        /* root of the mean square of prediction less gain, log2 */
    double error_catalogue, error_zero; /* of the catalogue's guess; of "nothing will happen" */
    double dropped;     /* share of the steps whose chance of a gain is below the limit */
    double gainers;     /* share of those that gain more than 0.05 all the same */
    double gainers_all; /* of all steps */
};

/* ret[n]: for each lattice a model that was fitted without it. The error of each is that of its own
 * kernels, left out one family at a time. In the pool. */
void hone_cost_fit_all(struct hone_lattice *const *lattices, size_t n, struct hone_pool *pool,
                       const struct hone_cost_model ***ret, double limit,
                       struct hone_cost_score *ret_score);
/* The same for a task that no lattice need be of: from the kernels of other tasks and families on
 * that target. *ret_from: their names, in the pool. HONE_E_NOT_FOUND: fewer than two, so that the
 * error would not be known. */
int hone_cost_fit_for(struct hone_lattice *const *lattices, size_t n, const char *task,
                      const char *family, const char *target, struct hone_pool *pool,
                      struct hone_cost_model *ret, struct hone_strs *ret_from,
                      struct hone_err *err);

#endif
