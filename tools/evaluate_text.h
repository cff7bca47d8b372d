/* SPDX-License-Identifier: Apache-2.0 */
/* What is said about an evaluation: the summary line, the commit's words and trailers, the report
 * that fits into a tree.
 *
 * Pure functions of a report; everything returned lives in the pool. Any thread. */
#ifndef HONE_TOOLS_EVALUATE_TEXT_H
#define HONE_TOOLS_EVALUATE_TEXT_H

#include "tools/evaluate.h"
#include "workspace/history.h"

/* One honest line: "faster: 3.21x baseline [3.15, 3.28] over 3 workloads, 41 % of bound (decide;
 * confirm before you claim it)". */
const char *hone_evaluation_summary(const struct hone_report *report, struct hone_pool *pool);
/* "3.21 [3.15, 3.28]". */
const char *hone_ratio_text(const struct hone_ratio *ratio, struct hone_pool *pool);
/* Geometric mean over the workloads of an arm's median; NaN when nothing was timed. */
double hone_report_time_ns(const struct hone_report *report, const char *arm);
/* The rules of the review list, "above_ceiling, timer"; NULL: nothing to look at. */
const char *hone_review_text(const struct hone_report *report, struct hone_pool *pool);
/* The failure or the first wrong element, in one line; NULL for good ends. */
const char *hone_report_failure(const struct hone_report *report, struct hone_pool *pool);
/* A report of at most HONE_LIMIT_TREE_REPORT_BYTES that hone_report_parse accepts: detail goes
 * first, figures last. */
const char *hone_report_compact(const struct hone_report *report, struct hone_pool *pool);

/* A sweep's points, the fastest first; those without a time come last. */
struct hone_array hone_points_by_time(const struct hone_array *points, struct hone_pool *pool);

struct hone_evaluation_names { /* what trailers say besides the report */
    const char *evaluation;    /* id */
    const char *blob;          /* hash of the full report */
};
/* Subject, body and trailers of the commit; the other members of ret are left alone. */
void hone_evaluation_describe(const struct hone_evaluation_request *req,
                              const struct hone_report *report,
                              const struct hone_evaluation_names *names, struct hone_pool *pool,
                              struct hone_version *ret);

/* "TILE=16 UNROLL=2" and back; the text form of trailers. */
const char *hone_tunables_text(const struct hone_array *tunables, struct hone_pool *pool);
int hone_tunables_parse(const char *text, struct hone_pool *pool, struct hone_array *ret,
                        struct hone_err *err);
/* Words separated by blanks. */
const char *hone_flags_text(const struct hone_strs *flags, struct hone_pool *pool);
struct hone_strs hone_flags_parse(const char *text, struct hone_pool *pool);

#endif
