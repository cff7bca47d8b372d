/* SPDX-License-Identifier: Apache-2.0 */
/* Stage `policy`: what the candidate's binary holds, against the rules of its task
 * (workspace/task/policy.h).
 *
 * The first finding that is rejected ends the evaluation with reason `policy`; findings to be
 * reviewed go to the report's review list. The source is only used to say in which line a finding
 * is named. */
#ifndef HONE_RUNNER_POLICY_STAGE_H
#define HONE_RUNNER_POLICY_STAGE_H

#include "tools/runner/binary/policy.h"
#include "tools/runner/judge/judge.h"

/* Line of the first place in C text, outside comments, where one of the words stands; 0: none. */
int64_t hone_policy_line_of(const char *source, const char *const *words, size_t n_words);

/* What follows from the facts: *ret stays good or becomes reason policy; what is to be reviewed
 * goes to the judge's list. */
void hone_policy_decide(struct hone_judge *judge, const struct hone_policy_facts *facts,
                        const char *source, struct hone_outcome *ret);

#endif
