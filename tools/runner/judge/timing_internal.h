/* SPDX-License-Identifier: Apache-2.0 */
/* The state of one comparison in time on the CPU, and what its four files ask of each other:
 *
 *   timing.c        plans blocks, plays rounds, decides when there are enough, reports
 *   timing_block.c  one hand-over: content, warm-up call, clock, look at the outputs
 *   yardstick.c     what torch takes for the same
 *   timing_audit.c  hand-overs that do not count: looked at midway, or with other content
 *
 * Results as for stages (judge.h). Runner main thread. */
#ifndef HONE_RUNNER_TIMING_INTERNAL_H
#define HONE_RUNNER_TIMING_INTERNAL_H

#include "tools/runner/judge/audit.h"
#include "tools/runner/arena/place.h"
#include "tools/runner/judge/rounds.h"
#include "tools/runner/judge/judge.h"

#define HONE_TIMING_MAX_SUBS  8
#define HONE_TIMING_DISTURBED 1.25
#define HONE_TIMING_ITEMS     64 /* of the oracle, for a block */
#define HONE_TIMING_SETS      8  /* that are looked at, for one */

struct hone_timing_lane { /* one arm in a comparison */
    struct hone_slot *slot;
    struct hone_lane *out; /* where its times go */
    double call_ns;        /* estimate */
    int64_t n_sets, n_subs;
    size_t n;
    double wall_ns, cpu_ns; /* of all hand-overs that were timed */
    int64_t n_timed;
    int64_t used_ns; /* of all hand-overs */
    int64_t over_ns; /* that warm-up calls took beyond what they may */
    bool is_trusted; /* the baseline's: what follows is for the others, all alike */
    char *others;    /* content of other kinds, in the layout of the inputs' file */
    enum hone_distribution other_dists[HONE_BUFFERS_MAX_SETS];
    int64_t n_dealt;    /* kinds of other content */
    int64_t n_others;   /* blocks with other content */
    int64_t n_audits;   /* that saw a block half done */
    int64_t n_changes;  /* sets that they changed */
    int64_t n_near;     /* of them: a call or two ahead, while the arena ran */
    int64_t n_stopped;  /* of n_audits: the arena stood still */
    double audit_scale; /* of the expected time; less while blocks were over before the look */
    int64_t n_uneven;   /* of these in a row: hone_audit_end */
    int64_t held_bytes; /* by its process after the last round; 0: not known yet */
    int64_t n_held, n_grown, grown_bytes, grown_calls; /* rounds since, those with more, how much */
};

struct hone_timing_subs { /* of the hand-overs of a block */
    double wall[HONE_TIMING_MAX_SUBS], cpu[HONE_TIMING_MAX_SUBS];
    size_t n;
};

enum hone_timing_kind { /* of a round, and of the block of each arm that is not trusted in it */
                        HONE_TIMING_PLAIN,
                        HONE_TIMING_AUDIT,
                        HONE_TIMING_OTHERS,
                        HONE_TIMING_N_KINDS
};

struct hone_timing_run {
    struct hone_judge *judge;
    const struct hone_timing_plan *plan;
    struct hone_timing_lane lanes[HONE_RUNNER_MAX_ARMS];
    size_t n_lanes;
    struct hone_rounds rounds;
    struct hone_place place;
    char *plain;                        /* content, in the layout of the inputs' file */
    int64_t n_played;                   /* rounds, counted or not */
    int64_t gone_ns;                    /* used_ns of lanes that were lost */
    size_t order[HONE_RUNNER_MAX_ARMS]; /* of lanes, in a round that goes forward */
    double fastest_ns;                  /* estimate of the quickest arm's call */
    double oracle_ns;                   /* what the last full reference of an iterated task cost */
    char *flush;
    int64_t flush_bytes;
    bool may_stop;            /* the arena, in the middle of the next hand-over */
    int64_t further_until_ns; /* 0: rounds that count are still played; else when fewer looks at
                                 calls under way are enough */
};

/* What happens in the middle of a hand-over: every block of every arm is looked at, so that nobody
 * can tell by that what it is for. */
struct hone_timing_midway {
    struct hone_timing_lane *lane;
    struct hone_audit *audit; /* NULL: a block that counts */
    bool is_quiet;
    struct hone_look look;      /* out: how it went */
    struct hone_call_time time; /* out */
};

/* ---- timing_block.c ---- */

/* First guess of a call's time. */
int hone_timing_estimate(struct hone_timing_run *run, struct hone_timing_lane *lane,
                         struct hone_outcome *ret, struct hone_err *err);
struct
    hone_timing_calls { /* n of the sets from `first` on, which are filled and poisoned already */
    int64_t n, first;
    struct hone_look *look; /* NULL: nobody looks in the middle */
};
int hone_timing_hand_over(struct hone_timing_run *run, struct hone_timing_lane *lane,
                          const struct hone_timing_calls *what, struct hone_call_time *ret,
                          struct hone_outcome *ret_end, struct hone_err *err);
/* Draws plain content, warms up, copies it (or lane->others) to the arena and calls: a hand-over,
 * whatever it is for. */
int hone_timing_fresh(struct hone_timing_run *run, struct hone_timing_lane *lane, bool is_other,
                      struct hone_timing_midway *midway, struct hone_outcome *ret,
                      struct hone_err *err);
/* One that counts, and the look at what it left. */
int hone_timing_sub(struct hone_timing_run *run, struct hone_timing_lane *lane,
                    struct hone_timing_subs *times, struct hone_outcome *ret, struct hone_err *err);
/* The times of a whole block become those of the lane's next round. */
void hone_timing_note(struct hone_timing_lane *lane, const struct hone_timing_subs *times);
/* What a call takes: the best so far, or the estimate. */
double hone_timing_call_ns(const struct hone_timing_lane *lane);
void hone_timing_draw_set(struct hone_timing_run *run, char *content, int64_t set,
                          enum hone_distribution dist);
/* Canaries and unwritten elements of one set. */
int hone_timing_check_set(struct hone_timing_run *run, struct hone_timing_lane *lane, int64_t set,
                          struct hone_outcome *ret);
/* All sets of a hand-over with plain content, some of them against the oracle or the baseline. */
int hone_timing_check_block(struct hone_timing_run *run, struct hone_timing_lane *lane,
                            struct hone_outcome *ret, struct hone_err *err);

/* ---- yardstick.c ---- */

/* In a confirmation of a torch task, for a public workload: what torch itself takes for the module,
 * in turns with the candidate. A module that fails loses this ratio, with a warning. */
int hone_timing_yardstick(struct hone_timing_run *run, struct hone_workload_report *report,
                          struct hone_outcome *ret, struct hone_err *err);

/* ---- timing_audit.c ---- */

/* None of these knows which arm it looks at: whatever is asked of one is asked of all that
 * are not trusted. */
bool hone_timing_has_kind(const struct hone_timing_run *run, const struct hone_timing_lane *lane,
                          enum hone_timing_kind kind);
/* Content of other kinds for all sets. */
void hone_timing_draw_others(struct hone_timing_run *run, struct hone_timing_lane *lane);
int hone_timing_others(struct hone_timing_run *run, struct hone_timing_lane *lane,
                       struct hone_outcome *ret, struct hone_err *err);
int hone_timing_audit(struct hone_timing_run *run, struct hone_timing_lane *lane,
                      struct hone_outcome *ret, struct hone_err *err);
/* Were there too few audits of this one so far? After run->further_until_ns fewer are enough. */
bool hone_timing_lacks_audit(const struct hone_timing_run *run,
                             const struct hone_timing_lane *lane);
bool hone_timing_lacks_audits(const struct hone_timing_run *run); /* of any of them? */
/* Or blocks with other content? */
bool hone_timing_lacks_others(const struct hone_timing_run *run);

#endif
