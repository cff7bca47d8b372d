/* SPDX-License-Identifier: Apache-2.0 */
/* What a search does next: one decision from what it knows and what its process sees. Pure, so that
 * a table of cases tests it. Who carries it out: driver.h.
 *
 * In this order: the baseline, what was submitted, a sweep and a longer look at the best, answers of
 * models, a step of the policy. A reason to stop closes the round at once, except a plateau: then
 * what was begun ends first (waits_for_begun in next.c). A round that closes confirms its best, up
 * to three versions, the baseline when none of them beats it, and ends. */
#ifndef HONE_AGENTS_NEXT_H
#define HONE_AGENTS_NEXT_H

#include "agents/search/budget.h"
#include "agents/search/state.h"

enum hone_next {
    HONE_NEXT_BASELINE,
    HONE_NEXT_SUBMISSION, /* the oldest that waits is tried */
    HONE_NEXT_SWEEP,      /* of the node's tunables */
    HONE_NEXT_DECIDE,     /* a longer look at the node */
    HONE_NEXT_WAIT,       /* for a submission */
    HONE_NEXT_ANSWER,     /* of a model that was asked ahead, or one more ask */
    HONE_NEXT_PICK,       /* the policy picks a step */
    HONE_NEXT_RERANK,     /* a model orders the steps of the node that was picked */
    HONE_NEXT_TRY,        /* the step that was picked */
    HONE_NEXT_CLOSE,      /* the round closes: why */
    HONE_NEXT_CONFIRM,    /* the node, with fresh data */
    HONE_NEXT_REOPEN,     /* what was asked for fell short in the confirmation: on it goes */
    HONE_NEXT_END,        /* of the round: why */
    HONE_N_NEXT
};

enum hone_picked {
    HONE_PICKED_NONE,     /* the policy was not asked */
    HONE_PICKED_UNRANKED, /* a step whose order a model may change */
    HONE_PICKED_STEP,
    HONE_PICKED_STOP /* the policy picks nothing */
};

/* What may be claimed is a round's result before what was faster with a doubt, and that before all
 * others, whatever their figures. */
enum hone_claim { HONE_CLAIM_NONE, HONE_CLAIM_DOUBTED, HONE_CLAIM_FULL };

struct hone_closing {          /* of a round */
    enum hone_stop_reason why; /* NONE: it is open */
    int n_confirmed;           /* confirmations that ended */
    int n_wrong;               /* of them, of versions that were found wrong */
    bool is_cut;               /* the cap stopped one: there is no other */
    int node;                  /* the best of those that stand; HONE_NO_NODE */
    int tried;                 /* the version whose confirmation ended last; HONE_NO_NODE */
    enum hone_claim claim;     /* of its confirmation */
    double rank;               /* its measure, against the baseline */
    double speedup;            /* its figure */
};

struct hone_outlook {
    const struct hone_state *state; /* its best version is expanded, unless the round closes */
    const struct hone_closing *closing;
    const char *target; /* "cpu", "cuda" */
    int64_t budget_wall_ms, elapsed_ms;
    int64_t look_ms;                 /* what a longer look takes */
    double stop_at_speedup;          /* 0: none */
    double stop_at_percent_of_bound; /* 0: 95 */
    int64_t plateau;                 /* 0: 24, < 0: never */
    enum hone_stop_reason over;      /* the cap that one more evaluation could pass; or NONE */
    bool may_confirm;                /* one more confirmation fits all caps */
    bool may_look;                   /* a longer look does, with the confirmation after it */
    bool wants_stop;                 /* the user does */
    bool has_submission;
    bool is_external; /* it lives of submissions alone */
    bool has_ahead;   /* models may be asked ahead, and not everything was asked and taken */
    enum hone_picked picked;
};

struct hone_decision {
    enum hone_next what;
    int node; /* of SWEEP, DECIDE, CONFIRM; else HONE_NO_NODE */
    /* Of CLOSE and END: why. Of SUBMISSION, SWEEP, DECIDE and ANSWER: the reason that will close the
     * round when what was begun has ended. Else NONE. */
    enum hone_stop_reason why;
};

struct hone_decision hone_next(const struct hone_outlook *outlook);

/* Does a confirmation of that claim and measure become the round's result? */
bool hone_closing_improves(const struct hone_closing *c, enum hone_claim claim, double rank);

#endif
