/* SPDX-License-Identifier: Apache-2.0 */
/* What a result rests on, in words for people: one line beside the figure.
 *
 * Pure functions of a report; texts of the runner are made plain; everything lives in the
 * pool. Any thread. */
#ifndef HONE_TOOLS_RESTS_TEXT_H
#define HONE_TOOLS_RESTS_TEXT_H

#include "tools/format/report.h"

/* What matters most first, in less than HONE_RESTS_BYTES, which has room for every part at its
 * longest: nothing is cut at the end. NULL: the report does not say. Example:
 *
 *     fast-math (#pragma GCC optimize (fast-math); NaN, infinities and the order of sums are not
 *     kept), error rms 0.02, worst 0.3 of tolerance (baseline 0.001, 0.02), 1.9 of 2 threads,
 *     -O3 -march=native, ... */
#define HONE_RESTS_BYTES 1000
const char *hone_rests_text(const struct hone_report *report, struct hone_pool *pool);

/* What must be said with a figure, in about 100 bytes: fast-math and precision, threads, flags,
 * load where others used more than a little. NULL: the report does not say. */
const char *hone_rests_short(const struct hone_report *report, struct hone_pool *pool);

/* Parts, for trailers; NULL: nothing to say. */
const char *hone_rests_accuracy(const struct hone_report *report, struct hone_pool *pool);
const char *hone_rests_fast_math_text(const struct hone_report *report, struct hone_pool *pool);
/* "tf32 tensor cores"; "units of lower precision not known" where the code could not be read. NULL
 * where nothing was to read it: a profile. */
const char *hone_rests_precision(const struct hone_report *report, struct hone_pool *pool);
const char *hone_rests_threads(const struct hone_report *report, struct hone_pool *pool);
/* Fast-math and lower precision alone, short, for lists: "fast-math, bf16"; NULL: neither. */
const char *hone_rests_flag(const struct hone_report *report, struct hone_pool *pool);

/* A bound is no score: what is better than it is shown as 100... */
double hone_shown_percent(double percent);
/* ...with these words: "beyond the bound of float32 multiply-add units (it uses tf32 tensor
 * cores)"; "" up to 100. */
const char *hone_beyond_bound(const struct hone_report *report, struct hone_pool *pool);

/* "probably slower (...)" of an inconclusive interval that leaves 1 out; NULL: none. */
const char *hone_ratio_note(const struct hone_ratio *ratio, struct hone_pool *pool);

#endif
