/* SPDX-License-Identifier: Apache-2.0 */
/* Several confirmations of one version, that is of one machine code: what they say together, and
 * whether they contradict each other.
 *
 * Sources of one task, target and set of options that compile to the same machine code count as one
 * version here: who changes a comment does not get a fresh start.
 *
 * A confirmation counts when it decided (faster, same, slower) and nothing but a contradiction
 * stands against claiming it; measurements of another machine are left out. Two contradict each
 * other when their intervals exclude each other, of the whole and of the public workloads that
 * both have: hidden sizes are drawn anew each time. A later one may be claimed when it agrees with
 * more than half of all, itself included; so of two that contradict each other neither may, and a
 * third decides. Records are never changed: what is found stands in the later report and is found
 * again by who reads the history. Any thread. */
#ifndef HONE_TOOLS_CONFIRMATIONS_H
#define HONE_TOOLS_CONFIRMATIONS_H

#include "tools/format/report.h"
#include "workspace/base/limits.h"
#include "workspace/history.h"

struct hone_confirmation {
    const struct hone_report *report;
    const char *commit; /* of the evidence, or the version's; NULL: not recorded yet */
};

struct hone_confirmations {                               /* where there are more, the latest */
    struct hone_confirmation v[HONE_LIMIT_CONFIRMATIONS]; /* oldest first */
    size_t n;
};

/* Adds a report when it counts. It is borrowed. */
void hone_confirmations_add(struct hone_confirmations *list, const struct hone_report *report,
                            const char *commit);
/* Versions with the same of all four have the same machine code. */
struct hone_code_key {
    const char *task_hash, *target, *flags; /* as the trailers say them; NULL: without */
    const char *code;                       /* as the report's build says; NULL: not known */
};

/* All that history knows of a version (commit NULL: one that is not recorded yet) and of other
 * versions with its machine code (key NULL: as the commit's trailers say). Reads the trailers of
 * every version. What cannot be read is left out. */
void hone_confirmations_of(struct hone_history *history, const char *commit,
                           const struct hone_code_key *key, struct hone_pool *pool,
                           struct hone_confirmations *ret);

/* The same report read again, as if it were the latest. */
void hone_confirmations_put_last(struct hone_confirmations *list, const struct hone_report *report);

/* Why the latest may not be claimed beside the others, as a sentence; NULL: nothing. */
const char *hone_confirmations_contradiction(const struct hone_confirmations *list,
                                             struct hone_pool *pool);
/* Together (random effects: the spread between runs counts as well as that inside of them; the
 * interval is where another confirmation is to be expected); NULL: fewer than two count. */
struct hone_confirmations_report *hone_confirmations_sum(const struct hone_confirmations *list,
                                                         struct hone_pool *pool);

/* The latest of them is `report`: fills report->confirmations and adds a contradiction in front of
 * its doubts. */
void hone_confirmations_judge(const struct hone_confirmations *list, struct hone_pool *pool,
                              struct hone_report *report);

/* doubt in front of the report's others, once. */
void hone_report_doubt_first(struct hone_report *report, const char *doubt, struct hone_pool *pool);

#endif
