/* SPDX-License-Identifier: Apache-2.0 */
/* The one verdict table: reason -> verdict -> error class -> does it count against the coder.
 *
 * A report names a reason; everything else follows from the row. Tools, history, statistics and the
 * manual read this table. */
#ifndef HONE_FORMAT_VERDICT_H
#define HONE_FORMAT_VERDICT_H

#include "workspace/base/base.h"

enum hone_verdict {
    HONE_VERDICT_NONE, /* not said */
    HONE_VERDICT_BUILT,
    HONE_VERDICT_CORRECT,
    HONE_VERDICT_SCREENED, /* screen tier: right, and worth deciding (or not: vs_baseline says) */
    HONE_VERDICT_FASTER,
    HONE_VERDICT_SAME,
    HONE_VERDICT_SLOWER,
    HONE_VERDICT_INCONCLUSIVE,
    HONE_VERDICT_INCORRECT,
    HONE_VERDICT_FAILED,
    HONE_VERDICT_INVALID,
    HONE_VERDICT_SUSPICIOUS,
    HONE_VERDICT_INFRA
};
extern const char *const hone_verdict_choices[]; /* for field tables */
const char *hone_verdict_name(enum hone_verdict verdict);
/* false when the word is unknown */
bool hone_verdict_parse(const char *word, enum hone_verdict *ret);

/* Every reason; the table in verdict.c has one row each. */
enum hone_reason {
    HONE_REASON_NONE, /* not said */
    HONE_REASON_BUILT,
    HONE_REASON_CORRECT,
    HONE_REASON_SCREENED,
    HONE_REASON_FASTER,
    HONE_REASON_SAME,
    HONE_REASON_SLOWER,
    HONE_REASON_NOISY,      /* interval too wide in the budget */
    HONE_REASON_FEW_ROUNDS, /* the interval is clear, of too few pairs */
    HONE_REASON_TOO_SHORT,  /* kernel too short for the clock even batched */
    HONE_REASON_STEAL,      /* the hypervisor took time away */
    HONE_REASON_LOADED,     /* others' use of the cores may have made the figure */
    HONE_REASON_REGRESSION, /* faster on the whole, but one workload below 0.97x */
    HONE_REASON_WRONG_VALUE,
    HONE_REASON_UNWRITTEN,
    HONE_REASON_NONFINITE,
    HONE_REASON_INPUT_CHANGED,
    HONE_REASON_OUT_OF_BOUNDS,
    HONE_REASON_NONDETERMINISTIC,
    HONE_REASON_STATEFUL, /* differs between calls with the same input */
    HONE_REASON_UNINITIALISED,
    HONE_REASON_CALLER_CHANGED, /* depends on the fill of memory it never wrote */
    HONE_REASON_COMPILE,
    HONE_REASON_LINK,
    HONE_REASON_NO_SYMBOL,
    HONE_REASON_COMPILE_TIMEOUT,
    HONE_REASON_POLICY, /* the binary holds what the task refuses: clocks, imports... */
    HONE_REASON_CRASH,
    HONE_REASON_ILLEGAL_INSTRUCTION, /* cuda: or what it was given */
    HONE_REASON_TIMEOUT,
    HONE_REASON_OOM,
    HONE_REASON_LAUNCH,    /* cuda: the device refuses a launch (too many registers, clusters...) */
    HONE_REASON_EXITED,    /* exit() inside the kernel */
    HONE_REASON_FORBIDDEN, /* killed by the jail: socket, fork, exec, ptrace... */
    HONE_REASON_DISK,      /* filled its disk allowance */
    HONE_REASON_UNRULY,    /* fails where the baseline works in the same place */
    HONE_REASON_BAD_REQUEST,
    HONE_REASON_BAD_TASK,
    HONE_REASON_BAD_FLAG,
    HONE_REASON_TOO_LARGE,
    HONE_REASON_BELOW_FLOOR, /* faster than bytes or flops allow */
    HONE_REASON_CLOCKS_DISAGREE,
    HONE_REASON_TAMPERING,
    HONE_REASON_CANCELLED,
    HONE_REASON_INFRA,
    HONE_REASON_NO_JAIL,
    HONE_N_REASONS
};

struct hone_reason_row {
    const char *word; /* "wrong_value" */
    enum hone_verdict verdict;
    const char *error_class; /* compile, link, policy, launch, timeout, oom, illegal_access,
                                illegal_instruction, race,
                                mismatch, nan, nondeterministic, harness_tamper, budget, infra,
                                request; "" for good ends */
    bool counts_against_coder;
    const char *meaning; /* one sentence */
    const char *next;    /* what to do about it, one sentence */
};
extern const char *const hone_reason_choices[]; /* for field tables */
const struct hone_reason_row *hone_reason_row(enum hone_reason reason);
const char *hone_reason_name(enum hone_reason reason);
bool hone_reason_parse(const char *word, enum hone_reason *ret);

/* How much effort a verdict rests on; more of it is a greater value. */
enum hone_tier {
    HONE_TIER_NONE, /* not said */
    HONE_TIER_SCREEN,
    HONE_TIER_DECIDE,
    HONE_TIER_CONFIRM
};
extern const char *const hone_tier_choices[]; /* for field tables */
const char *hone_tier_name(enum hone_tier tier);
enum hone_tier hone_tier_of(const char *word); /* HONE_TIER_NONE: NULL, or no such word */

#endif
