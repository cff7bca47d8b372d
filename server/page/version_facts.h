/* SPDX-License-Identifier: Apache-2.0 */
/* What was measured of a version, for the page and for agents: of its best founded report what a
 * reader looks at, and its latest profile.
 *
 *     {"commit", "task", "target", "tier", "verdict", "summary", "percent_of_bound", "worst_ratio",
 *      "ratios": [...], "workloads": [{"id", "times", "ratios", "percent_of_bound", ...}],
 *      "rests_on", "doubts", "warnings", "profile": {"bottlenecks", "counters", "remarks"}}
 *
 * Members are those of a report (tools/format/report.h); what was not measured is absent. */
#ifndef HONE_SERVER_VERSION_FACTS_H
#define HONE_SERVER_VERSION_FACTS_H

#include "workspace/base/json.h"
#include "workspace/workspace.h"

/* NULL: no such version. Owned. Reads the version's evidence. Any thread. */
struct hone_json *hone_version_facts(struct hone_workspace *ws, const char *rev);
/* The latest profile among its reports; NULL: none. Owned. */
struct hone_json *hone_version_profile(struct hone_workspace *ws, const char *rev);

#endif
