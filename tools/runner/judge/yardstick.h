/* SPDX-License-Identifier: Apache-2.0 */
/* Torch beside the candidate, in turns, once a comparison is over. No verdict reads it. Judge's
 * thread only. */
#ifndef HONE_RUNNER_YARDSTICK_H
#define HONE_RUNNER_YARDSTICK_H

#include "tools/runner/judge/judge.h"

/* Who is timed, and how. */
struct hone_yardstick_arms {
    const char *name; /* HONE_ARM_TORCH_EAGER or the like */
    /* ns of one call of the module, of n_calls; 0 in *ret_ns: it failed. A code below 0 ends the
     * evaluation, so a module that fails is none. */
    int (*time_torch)(void *arg, int64_t n_calls, double *ret_ns, struct hone_err *err);
    int (*time_candidate)(void *arg, double *ret_ns, struct hone_outcome *ret,
                          struct hone_err *err);
    void *arg;
    int64_t block_ns; /* how long a block of the module's calls is to be */
};

/* Adds its time and its ratio to the report: of a confirmation at a public size whose reference
 * is a module. A warning says where there is none. */
int hone_yardstick_play(struct hone_judge *judge, const struct hone_workload *workload,
                        const struct hone_yardstick_arms *what, struct hone_workload_report *report,
                        struct hone_outcome *ret, struct hone_err *err);

#endif
