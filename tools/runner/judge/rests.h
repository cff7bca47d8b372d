/* SPDX-License-Identifier: Apache-2.0 */
/* What a result rests on (struct hone_rests_report), gathered while a job goes through its stages:
 * errors in units of the tolerance, units of lower precision in the machine code, where fast-math
 * is asked for, threads.
 *
 * Units are read from the compiled object by policy's readers, which look at every instruction.
 * Code that is never run counts too: what is said is "holds", not "spends its time in". */
#ifndef HONE_RUNNER_RESTS_H
#define HONE_RUNNER_RESTS_H

#include "tools/runner/binary/units.h"
#include "workspace/base/fields.h"

struct hone_compare;
struct hone_judge;
struct hone_task;

/* Is its precision lower than what this task computes in? */
bool hone_unit_is_lower(enum hone_unit unit, const struct hone_task *task);

struct hone_rests { /* in struct hone_judge */
    struct {
        double err_squares, bound_squares, worst;
        bool is_known;
    } errors[2];    /* candidate, baseline */
    bool has_units; /* the object was read */
    uint32_t units; /* a bit for each of enum hone_unit */
};

/* Is the baseline held to the oracle here too, for its error alone? Once a workload. */
struct hone_check_plan;
bool hone_rests_wants(const struct hone_check_plan *plan, int dist);
/* Adds what a comparison with the oracle found, if its content was plain. */
void hone_rests_note(struct hone_rests *rests, bool is_baseline,
                     const struct hone_compare *compare);

/* Places in the source where fast-math is asked for, in the compiler's words: pragmas, attributes,
 * options. Comments do not count, strings that are written in parts do. In the pool. */
struct hone_strs hone_rests_fast_math(const char *source, const struct hone_strs *flags,
                                      struct hone_pool *pool);

/* Fills report->rests_on; warns and doubts where that follows from it. At the end of a job. */
void hone_rests_finish(struct hone_judge *judge);

#endif
