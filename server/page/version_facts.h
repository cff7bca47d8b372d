/* SPDX-License-Identifier: Apache-2.0 */
/* What was measured of a version, for the page and for agents: of its best founded report what a
 * reader looks at, and its latest profile.
 *
 *     {"commit", "task", "target", "tier", "verdict", "summary", "percent_of_bound", "worst_ratio",
 *      "ratios": [...], "workloads": [{"id", "times", "ratios", "percent_of_bound", ...}],
 *      "rests_on", "rests_text", "doubts", "warnings", "machine": {"cpu", "n_cores", ...}, "time_s",
 *      "looks": [{"tier", "verdict", "ratio", "low", "high", "percent_of_bound", "sizes": [...]}],
 *      "profile": {"bottlenecks", "counters", "remarks"}}
 *
 * Members are those of a report (tools/format/report.h); what was not measured is absent.
 * looks: every measurement that timed something, oldest first, with the ids of its sizes; rests_text:
 * rests_text.h; time_s: of the commit. */
#ifndef HONE_SERVER_VERSION_FACTS_H
#define HONE_SERVER_VERSION_FACTS_H

#include "workspace/base/json.h"
#include "workspace/workspace.h"

/* NULL: no such version. Owned. Reads the version's evidence. Any thread. */
struct hone_json *hone_version_facts(struct hone_workspace *ws, const char *rev);
/* The latest profile among its reports; NULL: none. Owned. */
struct hone_json *hone_version_profile(struct hone_workspace *ws, const char *rev);

#endif
