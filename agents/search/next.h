/* SPDX-License-Identifier: Apache-2.0 */
/* What a search does next: one decision from what it knows and what its process sees. Pure, so that
 * a table of cases tests it.
 *
 *     for (;;) {
 *         look around: fill in struct hone_outlook
 *         switch (hone_next(&outlook, &why)) ... carry it out
 *     }
 *
 * In this order: what was submitted, a sweep and a longer look at the best, answers of models, a
 * step of the policy. A reason to stop ends it at once, except a plateau: what was begun is taken
 * first. */
#ifndef HONE_AGENTS_NEXT_H
#define HONE_AGENTS_NEXT_H

#include "agents/search/state.h"

enum hone_next {
    HONE_NEXT_STOP,       /* *ret_why says why */
    HONE_NEXT_SUBMISSION, /* the oldest that waits is tried */
    HONE_NEXT_SWEEP,      /* of the best version's tunables */
    HONE_NEXT_DECIDE,     /* a longer look at the best version */
    HONE_NEXT_WAIT,       /* for a submission */
    HONE_NEXT_ANSWER,     /* of a model that was asked ahead, or one more ask */
    HONE_NEXT_TRY,        /* the policy picks a step, which a model may rerank first */
    HONE_N_NEXT
};

struct hone_outlook {
    const struct hone_state *state; /* its best version is expanded */
    const char *target;             /* "cpu", "cuda" */
    int64_t budget_wall_ms, elapsed_ms;
    int64_t room_ms;                 /* of the wall cap, the confirmation's share aside */
    int64_t look_ms;                 /* what a longer look takes */
    double stop_at_speedup;          /* 0: none */
    double stop_at_percent_of_bound; /* 0: 95 */
    int64_t plateau;                 /* 0: 24, < 0: never */
    const char *over;                /* the cap that one more evaluation could pass; NULL: none */
    bool wants_stop;                 /* the user does */
    bool has_submission;
    bool is_external;  /* it lives of submissions alone */
    bool has_ahead;    /* models may be asked ahead, and not everything was asked and taken */
    bool is_exhausted; /* the policy picks nothing */
};

/* *ret_why: the reason to stop; NULL with any other answer but where a plateau waits for what was
 * begun. */
enum hone_next hone_next(const struct hone_outlook *outlook, const char **ret_why);

#endif
