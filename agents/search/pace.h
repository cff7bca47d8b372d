/* SPDX-License-Identifier: Apache-2.0 */
/* How long the parts of a search take here, and what of a wall cap that leaves room for.
 *
 * The one estimate of screens, longer looks and confirmations: what may begin, what is kept back
 * for the confirmation and what a user is told of a cap follow from it. Longer looks are counted in
 * screens, so that what was learnt on a busy machine serves on a quiet one. Until one was seen it is
 * guessed by the sizes that it times.
 *
 *     struct hone_pace pace = {.n_sizes = task->n_workloads};
 *     for every result of a search of this task, old and new:
 *         hone_pace_note(&pace, &event.result, event.result.wall_ms);
 *     if (hone_pace_confirm_ms(&pace) <= left_ms) ...
 *
 * No clock, no ledger. One thread. */
#ifndef HONE_AGENTS_PACE_H
#define HONE_AGENTS_PACE_H

#include "agents/search/events.h"

struct hone_pace {
    size_t n_sizes;       /* public sizes of the task */
    bool is_device;       /* screens there are mostly compilers' time, which looks do not repeat */
    int64_t screen_ms;    /* the longest screen of late; 0: none yet */
    int64_t usual_ms;     /* one of the shorter ones of late, by which looks are counted */
    double look, confirm; /* what the last one took, in screens; 0: none yet */
};

/* ms: what it took, without waits and without what is measured once on a machine. */
void hone_pace_note(struct hone_pace *pace, const struct hone_event_result *result, int64_t ms);
/* The longest screen of late, with one more. */
int64_t hone_pace_screen_ms_with(const struct hone_pace *pace, int64_t ms);
/* 0 before a screen was seen. */
int64_t hone_pace_look_ms(const struct hone_pace *pace);
/* What must be left of a cap, beside what is kept back, for one to begin: more than it takes by the
 * guess, until one was seen, and what a confirmation after such a look takes beyond its guess. A
 * dear reference shows in no screen (24 s where 8 were guessed, saxpy of 36 million on an H200). */
int64_t hone_pace_look_room_ms(const struct hone_pace *pace);
int64_t hone_pace_confirm_ms(const struct hone_pace *pace);
/* The least that is kept back for one. It is timed shorter then (finish_ms of a job): screens that
 * get slower make the estimate rise past what is left, and a search without one has no result. */
int64_t hone_pace_least_confirm_ms(const struct hone_pace *pace);
/* What must be left for the first one of a search to begin, once nothing else is left to do. Where
 * 200 s were expected 60 were seen, where 250 s were 6. */
int64_t hone_pace_last_confirm_ms(const struct hone_pace *pace);
/* A sweep over so many settings, one rung. */
int64_t hone_pace_sweep_ms(const struct hone_pace *pace, size_t n_settings);
/* Settings of a sweep of two rungs that take half of the room. */
int64_t hone_pace_settings(const struct hone_pace *pace, int64_t room_ms);
/* What of a cap is kept back for the confirmation: at most half of it until one was seen, so that a
 * guess leaves time for something to confirm (of 55 s, 49 were kept for one that took 21). 0: the
 * cap, or what is left of it, is too short for one. */
int64_t hone_pace_reserve_ms(const struct hone_pace *pace, int64_t cap_ms, int64_t left_ms);
/* The least cap with room for screens and a confirmation, rounded up. */
int64_t hone_pace_cap_ms(const struct hone_pace *pace);
/* What the timing of a confirmation may take beyond the usual, of what is left. */
int64_t hone_pace_timing_ms(const struct hone_pace *pace, int64_t cap_ms, int64_t left_ms);

#endif
