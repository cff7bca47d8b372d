/* SPDX-License-Identifier: Apache-2.0 */
/* A version's times and past in words, for prompts: what was tried from it and what came of it, and
 * the steps that led to it. Parts of it come from compilers, candidates and models: it belongs into
 * a block of data. Everything returned lives in the pool. Reads the tree and changes nothing; one
 * thread, the search's. */
#ifndef HONE_AGENTS_HISTORY_CONTEXT_H
#define HONE_AGENTS_HISTORY_CONTEXT_H

#include "agents/coder/prompt.h"
#include "agents/planner/tree.h"
#include "tools/format/job.h"
#include "tools/format/report.h"

/* "2.1x (1.7 to 2.6)" of a step, to over from, with the 95 % interval; where that is so wide that
 * the figure says nothing the words say so. Two versions were each timed against the baseline, in runs of
 * their own: in log2 the half widths add up like independent errors. The baseline itself is no
 * error: it is what all are held against. */
const char *hone_step_text(const struct hone_node *from, const struct hone_node *to,
                           struct hone_pool *pool);
/* Of a report of that tier: which of the task's sizes it timed. */
struct hone_basis hone_basis_of(const struct hone_report *report, const struct hone_task *task,
                                const char *tier);
/* "screened on 2 of 3 timed sizes", "decided on all timed sizes"; NULL: not known. */
const char *hone_basis_text(const struct hone_basis *basis, struct hone_pool *pool);
/* "2.1x (1.7 to 2.6) the baseline, screened on 2 of 3 timed sizes" */
const char *hone_version_text(const struct hone_node *node, struct hone_pool *pool);
/* What the ratio of a step rests on, behind "; ", and that its two versions were not timed on the
 * same sizes, if so; "": not known. */
const char *hone_step_basis_text(const struct hone_node *from, const struct hone_node *to,
                                 struct hone_pool *pool);
/* "- n1m: 140 us (baseline 9.22 ms), 65.9x (63 to 68.1), 40 % of what the machine allows (by
 * bytes)", a size of the task a line; the share where the report has a floor. Those that the
 * report has no time of are there and say so. NULL: nothing was timed. */
const char *hone_times_text(const struct hone_report *report, const struct hone_task *task,
                            struct hone_pool *pool);
/* What a sweep said: the fastest HONE_LIMIT_SETTINGS of the points (struct hone_point, the first
 * is the default) with their times, the default, how many more there were. ns: of each point;
 * n_all: how many were tried at first, when these are what was left of them. NULL: the default
 * was not timed. */
const char *hone_settings_text(const struct hone_array *points, const double *ns, size_t n,
                               size_t n_all, struct hone_pool *pool);
/* One line a step, oldest first, the newest HONE_LIMIT_TRIED of them; NULL: none. In the pool. */
const char *hone_attempts_text(const struct hone_tree *tree, int node, struct hone_pool *pool);
/* The same of the steps on the way from the baseline; NULL: it is the baseline. */
const char *hone_lineage_text(const struct hone_tree *tree, int node, struct hone_pool *pool);
/* The best versions of the whole search, best first, at most HONE_LIMIT_BEST: the step that made
 * each, its ratio and what that rests on, what limits it; of a setting and the version that it is
 * of the better one. NULL: none but the baseline and this one. */
const char *hone_best_text(const struct hone_tree *tree, int node, struct hone_pool *pool);
/* All of a version's own. */
struct hone_history_context hone_history_context_of(const struct hone_tree *tree, int node,
                                                    struct hone_pool *pool);

#endif
