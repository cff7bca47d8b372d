/* SPDX-License-Identifier: Apache-2.0 */
/* Which kinds of content a job draws, which it has compared, and which it left out and why.
 *
 * A kind is left out where the task's contract does not cover it, and from then on where the task's
 * own baseline failed it. One thread: the judge's. */
#ifndef HONE_RUNNER_CONTENTS_H
#define HONE_RUNNER_CONTENTS_H

#include "tools/runner/values/kinds.h"

struct hone_judge;
struct hone_workload;
struct hone_contents {
    bool is_compared[HONE_N_DISTS];
    uint64_t last_compared; /* counter of the content that was looked at last (host) */
    const char *why_left_out[HONE_N_DISTS]; /* NULL: it was not */
    enum hone_distribution deck[HONE_N_DISTS];
    size_t n_deck; /* of them still to be dealt */
};

/* Once the task is known. */
void hone_contents_start(struct hone_judge *judge);
/* The kinds that the task covers, the plain one first; returns how many. */
size_t hone_contents_kinds(const struct hone_judge *judge,
                           enum hone_distribution ret[HONE_N_DISTS]);
/* Kinds other than the first `have` of dists, up to n in all: of a shuffled deck that is used up
 * before a kind comes again. A kind that needs room waits for a workload with long rows, as long as
 * the deck has others. */
void hone_contents_deal(struct hone_judge *judge, const struct hone_workload *workload,
                        enum hone_distribution *dists, size_t have, size_t n);
/* The baseline failed this kind: a warning, and it is not drawn for timed calls any more. The
 * candidate's answer to it is noted nowhere: a check notes a kind once it is settled. */
void hone_contents_leave_out(struct hone_judge *judge, enum hone_distribution dist,
                             const char *workload);
/* A failed check's detail, with what the content looks like where something was compared and it is
 * not the usual one; NULL for "". The pool's. */
const char *hone_contents_detail(const struct hone_judge *judge, const char *detail,
                                 bool is_compared, enum hone_distribution dist);
/* Fills the report's member. */
void hone_contents_report(struct hone_judge *judge);

#endif
