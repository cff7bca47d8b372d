/* SPDX-License-Identifier: Apache-2.0 */
/* What else the machine did while arms were timed, and what that may have done to their ratio.
 *
 * Contention that stays is invisible in the rounds: each is as slow as the next. So it is measured
 * from outside: what all cores that are allowed to us did, less what the judge and its children
 * used, is what others took (the hypervisor's share included). An arm that keeps one thread busy
 * does not feel one busy process on two cores, an arm with two threads does: the ratio is then one
 * of this machine as loaded, and its interval grows to what a quiet one could have said. An
 * interval is never made narrower here, and a middle never moved. */
#ifndef HONE_RUNNER_LOAD_H
#define HONE_RUNNER_LOAD_H

#include <sched.h>

#include "tools/runner/judge/rounds.h"
#include "tools/runner/judge/stats.h"

#define HONE_LOAD_MOST 1.15 /* a ratio that load may have changed by more is inconclusive */

struct hone_load_sample { /* running totals at one moment, of the cores that are allowed to us */
    int64_t now_ns;
    double free_ns, steal_ns; /* idle; taken by the hypervisor */
    double own_ns;            /* CPU time of the judge and its children, ended ones included */
    double throttled_ns;      /* in which the control group's quota was used up */
    bool is_known;
};

struct hone_load_meter {
    cpu_set_t cores;
    int64_t n_cores;
    struct hone_load_sample first, last;    /* last: where the present window began */
    double worst;                           /* window; cores used by others */
    double cpu_ns[HONE_RUNNER_MAX_ARMS];    /* of each arena when it began */
    double waited_ns[HONE_RUNNER_MAX_ARMS]; /* its threads, able to run, for a core */
};
void hone_load_begin(struct hone_load_meter *meter, const struct hone_judge *judge);
void hone_load_round(struct hone_load_meter *meter); /* between rounds */
/* Fills ret->load and widens ret->ratios, which hone_rounds_report has filled. Warns. */
void hone_load_end(struct hone_load_meter *meter, struct hone_judge *judge,
                   const struct hone_rounds *rounds, struct hone_workload_report *ret);

/* The same of calls of the candidate alone, which nobody compares (a profile). The report has one
 * arm, with how many threads it kept busy, and lives in the judge's pool. */
struct hone_load_report *hone_load_end_alone(struct hone_load_meter *meter,
                                             struct hone_judge *judge, double busy);

/* The whole: report->load, what load says against claiming as doubts, and the ratio of the whole
 * against arm `other` (1 is the first behind the candidate), whose interval is to be widened by
 * what the workloads' load may have changed together: that does not average out as noise does. */
void hone_load_conclude(struct hone_judge *judge);
void hone_load_widen_whole(const struct hone_judge *judge, struct hone_ratio *ratio);
/* The ratio of the arm that was set aside (rounds.h): by the baseline's load. */
void hone_load_widen_aside(const struct hone_judge *judge,
                           const struct hone_workload_report *workload, struct hone_ratio *ratio);
/* Logs of a workload's ratio against that arm as it was before it was widened: noise alone. */
struct hone_interval hone_load_logs(const struct hone_judge *judge,
                                    const struct hone_workload_report *workload,
                                    const struct hone_ratio *ratio);
/* Is the figure against that arm one of the load? Then *ret_why says so, in the judge's pool. */
bool hone_load_decides(const struct hone_judge *judge, const char *other, const char **ret_why);
/* An interval that is too wide: others used enough of the cores to explain it. */
bool hone_load_explains(const struct hone_judge *judge, const char **ret_why);

/* ---- the model; pure ---- */

/* Cores that others used between two samples; 0: the difference is within the clock's steps. */
double hone_load_others(const struct hone_load_sample *from, const struct hone_load_sample *to,
                        int64_t n_cores);
/* Threads that want to run at a time: what was busy at times, or what was busy on the whole and,
 * by CPU time, what waited for a core beside it. */
double hone_load_threads(double busy, double mean_busy, double waited_share, int64_t n_cores);
/* How many times as long an arm with so many threads may take for others' sake, at most: the
 * larger of what is left for them and of one thread that shares its core. 1: not at all. */
double hone_load_slowdown(double threads, int64_t n_cores, double others);
/* Factors above 1 by which the upper end may grow and the lower end may fall. */
struct hone_load_room {
    double up, down;
};
struct hone_load_room hone_load_room(double candidate_slowdown, double other_slowdown);
/* How far the second half of a series lies from the first, as a factor above 1; 1:
 * their intervals meet. */
double hone_load_drift(const double *values, size_t n);

#endif
