/* SPDX-License-Identifier: Apache-2.0 */
/* What differs between targets: everything that touches a kernel. A table; judge.c, stages.c and
 * sweep.c know a target by its row alone.
 *
 * Order of calls in a job:
 *
 *   1. set_up        once
 *   2. build_arm     for each arm, and build_oracle: neither needs a device
 *   3. start         before the first stage that runs anything
 *   4. check, time, run, profile, content, answer ...   in any order
 *   5. tear_down     at the end, also after a failed set_up
 *
 * Example, a check of the candidate:
 *
 *     struct hone_outcome end;
 *     rc = target->check(judge, slot, &plan, &end, err);
 *     if (rc < 0) ...                    a fault of ours
 *     if (!hone_outcome_is_good(&end)) ...   what the candidate did
 *
 * Results as for stages (judge.h): how a candidate fared is in *ret, a negative result is a fault of
 * ours. All functions run on the runner's main thread and block; build_ahead alone begins work and
 * returns. Deadlines are the job's (judge->deadline_ns and the arms' own limits).
 *
 * May be NULL: end_session, build_ahead, start, device, and content with answer. Everything else
 * has to be there. A new target is a file target_NAME.c that ends with its row, and a line in
 * target.c; judge.h has the types of the arguments (hone_check_plan, hone_timing_plan,
 * hone_stage_fn). */
#ifndef HONE_RUNNER_TARGET_H
#define HONE_RUNNER_TARGET_H

#include "tools/runner/judge/judge.h"

struct hone_policy_facts;

struct hone_effort {          /* how long things take there */
    int64_t small_bytes;      /* buffer set: smaller ones are verified with more distributions */
    int64_t screen_budget_ms; /* timing, all workloads, when the job names none */
    int64_t screen_block_ns, block_ns;   /* least length of a timed block */
    int64_t screen_oracle_ns, oracle_ns; /* of one reference answer: screen, verify */
    size_t screen_pairs, max_pairs;      /* rounds at most */
};

struct hone_target {
    const char *name;
    struct hone_effort effort;
    int (*set_up)(struct hone_judge *judge, struct hone_outcome *ret, struct hone_err *err);
    void (*tear_down)(struct hone_judge *judge);
    void (*end_session)(struct hone_session *session); /* after the last job; NULL: nothing kept */
    /* Builds one arm; point NULL: with the arm's own tunables and flags. */
    int (*build_arm)(struct hone_judge *judge, struct hone_slot *slot,
                     const struct hone_point *point, struct hone_outcome *ret,
                     struct hone_err *err);
    int (*build_oracle)(struct hone_judge *judge, struct hone_outcome *ret, struct hone_err *err);
    /* A sweep is going to build these points after the present one, in this order: may begin with
     * them, in threads or processes that tear_down ends. build_arm of a point finds what was begun. */
    void (*build_ahead)(struct hone_judge *judge, struct hone_slot *slot,
                        const struct hone_point *points, size_t n);
    /* Notes what the arm's binary holds (policy.h); runs nothing, needs no device. */
    int (*read_policy)(struct hone_judge *judge, struct hone_slot *slot,
                       struct hone_policy_facts *facts, struct hone_err *err);
    int (*start)(struct hone_judge *judge, struct hone_outcome *ret, struct hone_err *err);
    /* Ends the arm's process; its next check or time starts another. */
    void (*drop_arena)(struct hone_judge *judge, struct hone_slot *slot);
    int (*check)(struct hone_judge *judge, struct hone_slot *slot,
                 const struct hone_check_plan *plan, struct hone_outcome *ret,
                 struct hone_err *err);
    /* Fills the whole row of the workload (id, times, ratios, bound); rounds.h makes it from rounds
     * that the target played. Where *ret is bad the row is not read. */
    int (*time)(struct hone_judge *judge, const struct hone_timing_plan *plan,
                struct hone_workload_report *ret_report, struct hone_outcome *ret,
                struct hone_err *err);
    hone_stage_fn *run, *profile;
    /* Stage calibrate; NULL: the target has none. content: fresh content of one workload, in set 0
     * of judge->inputs, whose set 1 is the caller's. answer: what an arm makes of it, valid until
     * its next answer. */
    int (*content)(struct hone_judge *judge, const struct hone_workload *workload,
                   enum hone_distribution dist, uint64_t counter, struct hone_err *err);
    int (*answer)(struct hone_judge *judge, struct hone_slot *slot, const void **ret_outputs,
                  struct hone_outcome *ret, struct hone_err *err);
    /* Measured ceilings into judge->machine; is_fresh: measured again, the better ones kept. */
    int (*ceilings)(struct hone_judge *judge, bool is_fresh, struct hone_err *err);
    /* The uuid of the device that this job runs on, which its timing lease is named by. In the
     * judge's pool. NULL, or NULL returned: the processors. */
    const char *(*device)(const struct hone_judge *judge);
};
const struct hone_target *hone_target_find(const char *name); /* NULL: unknown */
extern const struct hone_target hone_target_cpu, hone_target_cuda;

/* Lets go of what all targets kept from job to job. */
void hone_target_end_sessions(struct hone_session *session);

/* The words of all targets, for messages: "cpu, cuda". */
const char *hone_target_names(void);

#endif
