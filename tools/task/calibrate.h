/* SPDX-License-Identifier: Apache-2.0 */
/* Calibration of a task's tolerance: from below by what honest kernels err by, from above by the
 * answers that must not pass.
 *
 * One job (stage calibrate, tools/runner/judge/calibrate.c) measures both through the comparison that
 * judges. Here the figures become a proposal, and the proposal is held against the trivial answers
 * by the same rule (task.h, hone_tolerance_factor):
 *
 *   rtol    margin x the largest honest error, at least 2 ulp of the output's type; a value that
 *           has three quarters of the margin stays. For 16-bit
 *           outputs the margin is taken of what goes beyond their own rounding. Errors of exactly
 *           nothing stay exactly nothing
 *   rel_l2  margin x the honest one on content without structure (16-bit: 1.25 x, as it is the
 *           rounding's own)
 *   bias    margin x the honest one there, at least a quarter of an ulp (16-bit: a 64th)
 *
 * The tolerance that is there stays where it accepts every honest error and refuses what must be
 * refused, and the proposal would not: lint admits what this calls fit, and nothing else.
 *
 * A looser tolerance that is there stays where another target of the pack has not been calibrated:
 * its sizes are not known here. Refused is a task when, with that tolerance,
 *
 *   - an answer passes on `normal` content of a public size (the mean of one number is the number,
 *     and not refused), or
 *   - zeros, ones, the mean or a copied input pass on other random content of such a size although
 *     they are not right there (not within twice the honest error), or
 *   - the next lower precision passes on `normal` content of a public size, unless the task allows
 *     it. */
#ifndef HONE_TOOLS_CALIBRATE_H
#define HONE_TOOLS_CALIBRATE_H

#include "tools/executor.h"
#include "workspace/task/task.h"

struct hone_calibrate_options {
    const struct hone_executor *executor; /* borrowed */
    const char *target;                   /* "cpu" */
    const char *scratch_dir;              /* NULL: a fresh folder below /tmp */
    const char *objects_dir;              /* compiled objects by content; NULL: in the folder */
    const char *hone;                     /* version for the record */
    bool allow_weak_jail;
    double margin;                 /* 0: HONE_CALIBRATE_MARGIN */
    int64_t budget_ms;             /* 0: HONE_CALIBRATE_MS */
    int64_t n_hidden;              /* drawn sizes besides the public ones */
    hone_progress_fn *on_progress; /* may be NULL */
    void *progress_arg;
    const struct hone_cancel *cancel; /* may be NULL */
};
#define HONE_CALIBRATE_MARGIN    2.0
#define HONE_CALIBRATE_MS        60000
#define HONE_CALIBRATE_HIDDEN    4
#define HONE_CALIBRATE_MOST_RTOL 0.25 /* a wider proposal tells no answer from another */
#define HONE_CALIBRATE_FLUSHED                                                                     \
    "\"special_values\": [] in task.json leaves denormals out: -ffast-math flushes them to zero. " \
    "Or "                                                                                          \
    "an atol above what they make of the output excuses it."

struct hone_calibrate_row { /* one output, one distribution */
    const char *output, *distribution;
    bool is_plain;                    /* content without structure */
    int64_t n_contents;               /* over all sizes */
    double p999, worst, rel_l2, bias; /* of honest kernels */
    double now, proposed;             /* rtol */
    /* the answers of each kind that are nearest to passing, over the public sizes: above 1 they
     * fail. NaN: none was made, or all are right here */
    double trivial, lower;
    const char *trivial_answer, *lower_answer;
};
struct hone_calibrate_tolerance { /* one output */
    const char *output;
    double atol, now_rtol, now_rel_l2, now_bias, rtol, rel_l2, bias;
    double noise, noise_p999, noise_rel_l2, noise_bias;
    const char *note; /* why it is not what was measured; may be NULL */
};
struct hone_calibrate_answer { /* one answer on one content */
    const char *answer, *workload, *distribution;
    bool is_lower, is_public, is_normal, is_random;
    bool is_right; /* as near as honest kernels come, or nothing else is possible */
    bool is_refused, is_refused_now; /* the task is, for this: with the proposal, as it is */
    double now, proposed;            /* by what factor it fails; at most 1 passes */
};

struct hone_calibrate {
    const char *task, *hash, *target, *device, *compiler, *date;
    double margin;
    int64_t n_seeds;
    bool is_fit;        /* no answer is refused with the proposal, which is no wider than
                           HONE_CALIBRATE_MOST_RTOL */
    bool is_fit_now;    /* nor with the tolerances that are there */
    bool is_honest_now; /* every honest error is within the tolerance that is there */
    bool is_flushed;    /* but for content of denormals: -ffast-math flushes them to zero */
    const char *advice; /* what to do where the task is not fit, or not now; NULL: nothing */
    bool is_change;
    double trivial, lower; /* nearest over everything that must fail; NaN: none */
    const char *trivial_answer, *lower_answer;
    struct hone_array tolerances; /* of struct hone_calibrate_tolerance */
    struct hone_array rows;       /* of struct hone_calibrate_row */
    struct hone_array answers;    /* of struct hone_calibrate_answer */
    struct hone_strs warnings;
};
#define HONE_CALIBRATE_ROW_N_FIELDS       13
#define HONE_CALIBRATE_TOLERANCE_N_FIELDS 13
#define HONE_CALIBRATE_ANSWER_N_FIELDS    9
extern const struct hone_field hone_calibrate_row_fields[HONE_CALIBRATE_ROW_N_FIELDS];
extern const struct hone_field hone_calibrate_tolerance_fields[HONE_CALIBRATE_TOLERANCE_N_FIELDS];
extern const struct hone_field hone_calibrate_answer_fields[HONE_CALIBRATE_ANSWER_N_FIELDS];

/* task: selected for options->target. 0 also for a task that is refused: look at is_fit. Negative
 * for cancel, and HONE_E_ARG or HONE_E_TARGET when nothing could be measured (the message says
 * why). ret's memory lives in the pool. Blocks for the budget and a little more; any thread. */
int hone_calibrate(const struct hone_task *task, const struct hone_calibrate_options *options,
                   struct hone_pool *pool, struct hone_calibrate *ret, struct hone_err *err);
/* The judging part alone, on a report that is there. */
int hone_calibrate_judge(const struct hone_task *task, const struct hone_report *report,
                         double margin, struct hone_pool *pool, struct hone_calibrate *ret,
                         struct hone_err *err);
/* "zeros pass on workload 'm512', normal, ...: do this", in the pool. is_now: with the tolerance
 * that is there. */
const char *hone_calibrate_refusal(const struct hone_calibrate *calibrate,
                                   const struct hone_calibrate_answer *answer, bool is_now,
                                   struct hone_pool *pool);
/* What helps an output that no rtol mends. Where it can cancel: the ITEM to paste for what looks like
 * a sum or a dot product, else how to write one. In the pool. */
const char *hone_calibrate_advice(const struct hone_task *task, size_t output,
                                  struct hone_pool *pool);
/* The ITEM to fill in for an output that is a sum. In the pool. */
const char *hone_calibrate_item(const struct hone_task *task, size_t output,
                                struct hone_pool *pool);
/* Is denormal content all that honest kernels err on by more than the tolerances that are there? */
bool hone_calibrate_is_flushed(const struct hone_calibrate *calibrate);
/* "honest kernels err by ... in 'out' ('alternating'), rtol is ..." of an output whose tolerance
 * refuses them; NULL: it does not. In the pool. */
const char *hone_calibrate_noise(const struct hone_calibrate *calibrate, size_t output,
                                 struct hone_pool *pool);
/* Do they err on content with structure alone, of a PyTorch module? It names one scale for an output,
 * not one for each element, so that such content may be beyond any kernel, or beyond -ffast-math. */
bool hone_calibrate_errs_on_structure(const struct hone_task *task,
                                      const struct hone_calibrate *calibrate, size_t output);
#define HONE_CALIBRATE_STRUCTURE                                                                   \
    "The judge leaves out such content where the baseline fails it too. "                          \
    "Elsewhere a version that errs so, as with -ffast-math, is refused."
/* "y=1.2e-05,1e-30 S=...": tolerances of float outputs, as task_new takes them, for a calibration
 * that was short: up to 30 times what is proposed above, half of the way to the nearest answer that
 * must fail. NULL: not fit, or no change. In the pool. */
const char *hone_calibrate_proposal(const struct hone_task *task,
                                    const struct hone_calibrate *calibrate, struct hone_pool *pool);
/* Everything as lines of text for a terminal; owned. */
char *hone_calibrate_text(const struct hone_calibrate *calibrate);
struct hone_json *hone_calibrate_json(const struct hone_calibrate *calibrate); /* owned */

/* Puts tolerances and record into task.json, whose other text stays as it is, and loads the
 * pack again. HONE_E_ARG for a refused task, HONE_E_TIMEOUT when not everything was measured:
 * nothing is written. */
int hone_calibrate_write(const struct hone_task *task, const struct hone_calibrate *calibrate,
                         const char *hone, struct hone_err *err);

#endif
