/* SPDX-License-Identifier: Apache-2.0 */
/* Machine or candidate? Found out by experiment.
 *
 * Some ends say nothing about who failed: a signal from outside, buffers that cannot be mapped, an
 * error of the helper that holds the arm's code, a compiler that was killed. They have the reason
 * HONE_REASON_INFRA when they come here. The same is then done again, in fresh processes with the
 * same layout and limits, by the yardstick (the task's own kernel, the baseline) and by the arm in
 * turn, the yardstick first and last:
 *
 *     the yardstick fails once                          the machine's
 *     the arm fails, with the yardstick around it       the arm's, after so many failures
 *     the arm works                                     nobody's, after so many times
 *
 * How often is a row of a table. By lives: two failures, four times that it worked; a job on the
 * CPU, whose calls before the end are gone. By step: one and one; a step on the device, where the
 * job goes on with what the arm gave the second time, good or bad, so that one that fails now and
 * then gains nothing.
 *
 * judge.c's end of a job goes through hone_blame_settle, so that a new way to such an end is covered
 * as well. A target with processes of another kind tells hone_blame_decide how to live one life.
 * Runner main thread; blocks. */
#ifndef HONE_RUNNER_BLAME_H
#define HONE_RUNNER_BLAME_H

#include "tools/runner/judge/judge.h"

enum hone_blame {
    HONE_BLAME_MACHINE, /* the yardstick failed too */
    HONE_BLAME_ARM,
    HONE_BLAME_NOBODY /* both work when they are tried again: chance, or an arm that knows which
                         life it has. The job is done once more; a second time it is the arm's */
};

/* One life of the arm, or of the yardstick, from the start of its process to its end: *ret says how
 * it ended. A negative result counts as a life that failed, HONE_E_CANCEL ends the experiment. */
typedef int hone_blame_life_fn(void *arg, bool is_yardstick, struct hone_outcome *ret,
                               struct hone_err *err);
enum hone_blame_rule { HONE_BLAME_BY_LIVES, HONE_BLAME_BY_STEP };
/* Does this end say nothing about whose fault it was? Being stopped does. */
bool hone_blame_is_open(const struct hone_outcome *end);
/* ret_last: how the arm's last life that failed ended (ret HONE_BLAME_ARM); by step also what it
 * gave (ret HONE_BLAME_NOBODY). Negative: cancelled. */
int hone_blame_decide(enum hone_blame_rule rule, hone_blame_life_fn *live, void *arg,
                      enum hone_blame *ret, struct hone_outcome *ret_last, struct hone_err *err);

/* The reason and the words for what turned out to be the arm's fault: that of its last life where
 * it is one that counts against the coder, else `unruly`. was: how the job ended. */
void hone_blame_word(const struct hone_outcome *was, const struct hone_outcome *last,
                     struct hone_outcome *ret);

/* A job's end: where it is infra and an arm with foreign code (the candidate, else the parent) had
 * failed in such a way, the experiment decides. The candidate's fault becomes *end; the parent's is
 * said, and stays infra for the candidate. Everything else is untouched. */
void hone_blame_settle(struct hone_judge *judge, struct hone_outcome *end);
/* An end by a signal: names what the build has said about the stack. */
void hone_blame_explain(const struct hone_judge *judge, struct hone_outcome *end);

#endif
