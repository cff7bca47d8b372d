/* SPDX-License-Identifier: Apache-2.0 */
/* A comparison in time while it runs: what gpu_time.c (passes and rounds) and gpu_audit.c (blocks
 * beside them that show what timed ones do not) share. Judge's thread only. */
#ifndef HONE_RUNNER_CUDA_GPU_RUN_H
#define HONE_RUNNER_CUDA_GPU_RUN_H

#include "tools/runner/judge/arms.h"
#include "tools/runner/cuda/judge/gpu_judge.h"
#include "tools/runner/judge/rounds.h"

#define HONE_GPU_ORDERS         4
#define HONE_GPU_CUTS           64  /* of each kind: as many times are kept */
#define HONE_GPU_USUAL          2.0 /* times what the baseline's blocks show */
#define HONE_GPU_SCRATCH_POISON 0x7fa5a5a5u
#define HONE_GPU_SPOT_ITEMS     64
#define HONE_GPU_SPOT_DEAR_NS   (3 * HONE_NS_PER_MS) /* dearer ones are asked once in a while */

enum hone_gpu_cut { HONE_GPU_CUT_SHORT, HONE_GPU_CUT_ANYWHERE, HONE_GPU_N_CUTS };

struct hone_gpu_cuts { /* times of blocks that were cut, with their calls */
    size_t n;
    double n_calls[HONE_GPU_CUTS], ns[HONE_GPU_CUTS];
};

struct hone_gpu_lane {
    struct hone_slot *slot;
    struct hone_lane *out;
    double call_ns;         /* estimate */
    int64_t n_calls, first; /* in a block: sets first .. first + n_calls - 1 */
    int64_t firsts[HONE_GPU_ORDERS];
    int32_t orders[HONE_GPU_ORDERS][HONE_GPU_MAX_SETS];
    int64_t n_late; /* blocks whose gate gave up: their times stand for nothing */
    double period;  /* last SM clock of the present round */
    /* what the clocks say of whole blocks, by round */
    bool is_out[HONE_MAX_ROUNDS];
    double event[HONE_MAX_ROUNDS], stamp[HONE_MAX_ROUNDS], wall[HONE_MAX_ROUNDS];
    bool is_trusted; /* the baseline's: what follows is for the others, all alike */
    struct hone_gpu_cuts cuts[HONE_GPU_N_CUTS];
    double alone_ns;   /* what beginning costs it where there is one set; below 0: not known yet */
    int64_t n_changes; /* audits with changed content */
    int64_t n_others;  /* blocks with other content */
    int64_t n_near;    /* blocks after which a set was called with a little changed */
};

struct hone_gpu_run {
    struct hone_judge *judge;
    const struct hone_timing_plan *plan;
    struct hone_gpu_lane *lanes; /* of n_lanes; the candidate's first */
    size_t n_lanes;
    struct hone_rounds rounds;
    int64_t n_sets, n_passes;
    double nop_ns;
    double stamp_gap, wall_gap;         /* least of the baseline's, ns a round */
    bool can_spot;                      /* the oracle is asked for items */
    bool can_whole;                     /* or, where it has none, for everything about a set */
    int64_t spot_ns;                    /* what the last answer of the oracle cost */
    struct hone_gpu_cuts usual;         /* short ones of the baseline */
    size_t order[HONE_RUNNER_MAX_ARMS]; /* of lanes, in a round that goes forward */
    int64_t gone_ns;                    /* that calls of lanes took that were lost */
};

/* ---- gpu_time.c ---- */

struct hone_gpu_lane *hone_gpu_run_baseline(struct hone_gpu_run *run); /* NULL: none */
/* Fresh content in all sets. */
int hone_gpu_run_fill(struct hone_gpu_run *run, uint64_t *ret_base, struct hone_err *err);
/* Poison, cache, call: the first n of an order. */
int hone_gpu_run_block(struct hone_gpu_run *run, struct hone_gpu_lane *lane, int64_t n,
                       const int32_t **ret_order, struct hone_gpu_time *ret,
                       struct hone_outcome *ret_end, struct hone_err *err);
/* The same with a time that stands for something: a late block is made again,
 * with fresh content. */
int hone_gpu_run_clocked(struct hone_gpu_run *run, struct hone_gpu_lane *lane, int64_t n,
                         const int32_t **ret_order, struct hone_gpu_time *ret,
                         struct hone_outcome *ret_end, struct hone_err *err);
void hone_gpu_run_orders(struct hone_gpu_run *run, struct hone_gpu_lane *lane);
int hone_gpu_run_frame(struct hone_gpu_run *run, int64_t n_sets, struct hone_outcome *ret,
                       struct hone_err *err);
/* What an arm that is not trusted said of these sets, against the baseline, which is called on
 * them, or without one against random items. */
int hone_gpu_run_like(struct hone_gpu_run *run, struct hone_gpu_lane *mine, const int32_t *sets,
                      int64_t n, struct hone_outcome *ret, struct hone_err *err);
/* Lanes that were lost (arms.h) go. No pointer to a lane outlives it. */
void hone_gpu_run_drop_lost(struct hone_gpu_run *run);
/* Guests may take as much of the device as this: set anew before each of their steps. */
void hone_gpu_run_limit(struct hone_gpu_run *run);
/* Everything that an arm said of a set, against an answer that the oracle gives for it alone; as
 * many of its items as budget_ns pays where all take longer. */
int hone_gpu_run_whole(struct hone_gpu_run *run, struct hone_gpu_lane *lane, int64_t set,
                       enum hone_distribution dist, int64_t budget_ns, struct hone_outcome *ret,
                       struct hone_err *err);

/* ---- gpu_yardstick.c ---- */

/* What torch takes for the same on this device; nothing where it has no CUDA. */
int hone_gpu_run_yardstick(struct hone_gpu_run *run, struct hone_workload_report *report,
                           struct hone_outcome *ret, struct hone_err *err);

/* ---- gpu_blame.c ---- */

/* hone_gpu_blame (gpu_judge.h) of one lane, for sets of a block. */
int hone_gpu_run_blame(struct hone_gpu_run *run, struct hone_gpu_lane *lane, const int32_t *sets,
                       int64_t n, struct hone_outcome *ret, struct hone_err *err);

/* ---- gpu_audit.c ---- */

/* Now and then, before a pass. */
int hone_gpu_audit_maybe(struct hone_gpu_run *run, struct hone_outcome *ret, struct hone_err *err);
/* After the last round: what must have been done at least, and what the times of cut blocks say. */
int hone_gpu_audit_end(struct hone_gpu_run *run, struct hone_outcome *ret, struct hone_err *err);

/* Late blocks go on the review list where the candidate has more of them than the baseline. */
void hone_gpu_run_review_late(const struct hone_gpu_run *run);

#endif
