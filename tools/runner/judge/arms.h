/* SPDX-License-Identifier: Apache-2.0 */
/* Arms that nobody vouches for, besides the candidate: a parent.
 *
 * The baseline is the task's own and is trusted; its failure is ours. The candidate's failure is
 * its verdict. A parent is neither: it may be the code of whoever wants the candidate to look good
 * against it, or to look bad. So everything that is asked of a candidate while it is timed is asked
 * of a parent too (timing_audit.c, cuda/gpu_audit.c), and a parent that fails, is wrong, or is
 * slower than its own record *loses its lane*: no ratio is said against it, a warning says why, and
 * the candidate's verdict is what it would be without it. Runner main thread. */
#ifndef HONE_RUNNER_ARMS_H
#define HONE_RUNNER_ARMS_H

#include "tools/runner/judge/rounds.h"

bool hone_arm_is_trusted(const struct hone_slot *slot);
/* Neither trusted nor the candidate. */
bool hone_arm_is_guest(const struct hone_judge *judge, const struct hone_slot *slot);
/* Has the job a guest that has not lost its lane? */
bool hone_arm_has_guest(const struct hone_judge *judge);
/* The baseline's source with -ffast-math: a guest that is timed in the first rounds alone and that
 * no stop rule waits for. What it is compared to says nothing of the verdict. */
bool hone_arm_is_aside(const struct hone_slot *slot);
/* What its objects are built as: a source can read its own file's name, which must not tell a
 * parent from a candidate. */
const char *hone_arm_build_name(const struct hone_judge *judge, const struct hone_slot *slot);

/* What a step of an arm came to (code, *end), as the comparison takes it: a guest that failed loses
 * its lane, and all is well; the candidate's end stays; the baseline's is HONE_E_TARGET. */
int hone_arm_settle(struct hone_judge *judge, struct hone_slot *slot, int code,
                    struct hone_outcome *end, struct hone_err *err);
/* A guest loses its lane for a reason of the verdict table. */
void hone_arm_lose(struct hone_judge *judge, struct hone_slot *slot, enum hone_reason reason);

/* Guests whose times of this workload lie wholly below their record (job.h, `known`), by the
 * baseline's time, lose their lane, here and in the rounds. After the last round. */
void hone_arms_hold_to_record(struct hone_judge *judge, struct hone_rounds *rounds);
/* The same for all workloads together; before the ratios of the whole are made. Ratios against arms
 * that lost their lane go from the reports of all workloads. */
void hone_arms_conclude(struct hone_judge *judge);

#endif
