/* SPDX-License-Identifier: Apache-2.0 */
/* Are calls made one after the other?
 *
 * A kernel that knows how many calls a block holds could solve all of them in the first (one start
 * of its threads instead of many) or put them off to the last. Seen from outside that is all the
 * same, except in the middle: whoever works call by call leaves finished outputs, then at most one
 * that is partly written, then untouched ones.
 *
 * Answers can be kept in private memory, and then no output tells. So parts of the inputs of calls
 * that are not begun yet are changed in the middle of a block, in part or to content of another
 * kind: whoever has read them already answers what was asked before, and whoever has looked through
 * a block for content of other kinds has not seen it. In a third of these audits the arena stands
 * still and the very next calls are changed; in the others it runs on and cannot notice, and the
 * judge finds out afterwards whether it was in time (the call two before was not complete yet).
 * Near ones of these change a little of the next call or the one after it, and wait before they
 * find out. Whoever writes an output before it is known looks one call further than it is: so some
 * change the call that seems to be under way, and count where the call before it was still written
 * to afterwards. */
#ifndef HONE_RUNNER_AUDIT_H
#define HONE_RUNNER_AUDIT_H

#include "tools/runner/judge/judge.h"

#define HONE_AUDIT_CHANGED 4
#define HONE_AUDIT_KEPT    32

struct hone_audit_kept { /* an element as it was at the look */
    size_t output;
    int64_t element;
    double value;
};

struct hone_audit {
    struct hone_judge *judge;
    struct hone_slot *slot;
    int64_t n_sets;      /* called in order from 0, outputs poisoned with either poison */
    const char *content; /* what the inputs hold, in the layout of their file */
    const char *others;  /* content of other kinds for each set... */
    const enum hone_distribution *other_dists; /* ...and which */
    double call_ns;                            /* about */
    int64_t max_changed;                       /* at most HONE_AUDIT_CHANGED */
    bool is_near;                              /* of a quiet one */
    /* filled */
    int64_t n_done, n_begun; /* sets */
    bool is_out_of_order;
    int64_t n_changed, changed[HONE_AUDIT_CHANGED]; /* sets, in order */
    bool is_other[HONE_AUDIT_CHANGED];              /* all of it */
    int64_t kept_set;                               /* -1: none */
    struct hone_audit_kept kept[HONE_AUDIT_KEPT];   /* some of its outputs */
    bool is_late; /* a call may have been under way while its inputs changed: nothing of the block
                     can be judged */
};
/* Must a tensor's content stay in one piece? Any target. */
bool hone_audit_is_whole(const struct hone_tensor *tensor);
/* What a single element becomes. Of an input of a few elements each is drawn again and again, so
 * that an element is enlarged until it is large, and never grows beyond that. */
double hone_audit_enlarged(double old);
void hone_audit_look(struct hone_audit *audit);  /* while the arena stands still */
void hone_audit_quiet(struct hone_audit *audit); /* while it runs: changes alone */
/* After the block, before anything is made of the look: sets is_late where what was
 * kept says so. */
void hone_audit_settle(struct hone_audit *audit);
/* Accuses of work on later outputs. Outputs that are not floating point tell nothing. */
void hone_audit_end(const struct hone_audit *audit, struct hone_outcome *ret);
/* share: of the CPU time at the look. *n_uneven counts looks in a row at which far more or fewer
 * calls were done than that; the third puts the version on the review list. Threads that wait for
 * each other on a busy machine look like that too, so that nobody is accused. */
void hone_audit_shares(const struct hone_audit *audit, double share, int64_t *n_uneven);

#endif
