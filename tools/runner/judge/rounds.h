/* SPDX-License-Identifier: Apache-2.0 */
/* What a comparison in time is made of once the blocks have been clocked: rounds of one block an
 * arm, their ratios, the noise, when to stop, and what the report says. Any target; decisions/0011
 * tells the rules.
 *
 *     hone_rounds_init(&rounds, judge, plan);              then one lane for each arm
 *     do
 *         play a block of each arm, put its times at [rounds.n], rounds.n++
 *     while (!hone_rounds_done(&rounds, start_ns));
 *     hone_rounds_report(judge, &rounds, ret);
 *
 * Times are ns. Pure but for the report, which lives in judge->pool. Runner main thread. */
#ifndef HONE_RUNNER_ROUNDS_H
#define HONE_RUNNER_ROUNDS_H

#include "tools/runner/judge/judge.h"

#define HONE_MAX_ROUNDS 512

struct hone_lane { /* one arm; arrays by round, room for HONE_MAX_ROUNDS, in the pool */
    const char *name;
    struct hone_slot *slot;
    double *wall;    /* ns of one call */
    double *cpu;     /* ns of one call, all threads; NULL: not known */
    double *load;    /* what a disturbance changes: wall time by CPU time, or a clock's rate */
    bool *is_out;    /* rounds whose times cannot be believed: not used; NULL: none. Those of
                        the candidate and of guests (arms.h) remove no round from what is claimed:
                        wall must then hold what says least for the claim, the largest of the
                        candidate's clocks, the smallest of a guest's */
    int64_t n_batch; /* calls in a block */
};

struct hone_rounds {
    const struct hone_timing_plan *plan;
    struct hone_lane lanes[HONE_RUNNER_MAX_ARMS]; /* the candidate's first */
    size_t n_lanes, n;                            /* n: whole rounds so far */
    struct hone_lane aside;                       /* once it has left the others */
    size_t n_aside;                               /* its rounds; 0: there is none */
    double disturbed;  /* a load this many times the arm's usual one marks its round */
    bool is_two_sided; /* also this many times below; the usual one is then the median, else the
                          least */
};
void hone_rounds_init(struct hone_rounds *rounds, struct hone_judge *judge,
                      const struct hone_timing_plan *plan);
/* Rounds that can be believed for all arms; 0: the report's figures stand for nothing. */
size_t hone_rounds_believed(const struct hone_rounds *rounds);
/* A lane goes, with its times; the ones behind it move up. */
void hone_rounds_drop(struct hone_rounds *rounds, size_t lane);
#define HONE_ASIDE_ROUNDS 8
/* A lane goes, and its times are kept for a ratio of their own (hone_rounds_report_aside). */
void hone_rounds_set_aside(struct hone_rounds *rounds, size_t lane);
/* log(time of lane a / time of lane b), by the rounds that the baseline calls quiet. */
struct hone_interval hone_rounds_between(const struct hone_rounds *rounds, size_t a, size_t b);
/* The fixed stop rule: rounds, interval, budget. */
bool hone_rounds_done(const struct hone_rounds *rounds, int64_t start_ns);
/* Not longer than this: where the fewest rounds take many times the budget, fewer must do (and are
 * too few for a word), and audits that are still missing become a doubt. The same where little is
 * left of a job's finish_ms. */
int64_t hone_rounds_most_ns(const struct hone_timing_plan *plan);
/* Axes, times and ratios of the report, once guests were held to their record; warns of
 * rounds left out. */
void hone_rounds_report(struct hone_judge *judge, struct hone_rounds *rounds,
                        struct hone_workload_report *ret);
/* Time and ratio of the lane that was set aside; after hone_load_end. */
void hone_rounds_report_aside(struct hone_judge *judge, const struct hone_rounds *rounds,
                              struct hone_workload_report *ret);
/* samples.c: all samples so far, also of a comparison that ended badly, for the
 * call's samples file. */
void hone_rounds_keep(struct hone_judge *judge, const struct hone_rounds *rounds);
/* Do n_sets buffer sets stay in the cache from call to call? */
bool hone_rounds_is_in_cache(const struct hone_judge *judge, const struct hone_workload *workload,
                             int64_t n_sets);
/* Bound and percent of it, with n_sets buffer sets in flight. */
int hone_rounds_bound(const struct hone_judge *judge, const struct hone_workload *workload,
                      int64_t n_sets, struct hone_workload_report *ret, struct hone_err *err);

#endif
