/* SPDX-License-Identifier: Apache-2.0 */
/* Machine or candidate? By experiment, the same for everything here that holds foreign code or was
 * fed by it: both compilers, the recorder, modules, arenas on the device.
 *
 * Such a step can end without a word about whose fault it was: a process that is gone, a driver's
 * code that nobody knows, an error of ours. A source could want exactly that, because a fault of
 * the machine counts against nobody. So the step is done again, by fresh processes, with the same
 * limits and without caches: the baseline's in the candidate's place, the candidate's, and where
 * that fails too the baseline's once more. The rule is blame.h's, by step: what the candidate gives
 * the second time counts, good or bad. Runner main thread; blocks as long as the steps do. */
#ifndef HONE_RUNNER_CUDA_FAULT_H
#define HONE_RUNNER_CUDA_FAULT_H

#include "tools/runner/arena/arm.h"

enum hone_fault_side { HONE_FAULT_BASELINE, HONE_FAULT_CANDIDATE };

struct hone_fault_step {
    const char *name;        /* "the build", for the message */
    enum hone_reason reason; /* the candidate's, when it is its fault */
    /* Does the step anew; 0 with *ret, or an error. */
    int (*run)(void *arg, enum hone_fault_side side, struct hone_outcome *ret,
               struct hone_err *err);
    void *arg;
};

/* Does this say nothing about whose fault it was? Being stopped does. */
bool hone_fault_is_open(int code, const struct hone_outcome *end);
/* code, *end and *err: how the step ended. An end that is not open is given back as it is.
 * Otherwise the experiment, which leaves its answer in *end and returns 0, or what it was given
 * where the machine is at fault. */
int hone_fault_settle(const struct hone_fault_step *step, int code, struct hone_outcome *end,
                      struct hone_err *err);

#endif
