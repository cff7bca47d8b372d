/* SPDX-License-Identifier: Apache-2.0 */
/* All searches of a workspace in one pass over its ledger: what the page's first view and agents ask.
 *
 *     [{"search": id, "name", "task", "target", "machine", "start_ms", "last_ms", "evaluations", "best":
 *       [[seconds, ratio], ...], "end": {verdict, speedup, ci, best_commit, why_stopped, ...}}, ...]
 *
 * Newest first, at most HONE_LIMIT_PAGE_SEARCHES. best: the screened and decided bests on the way,
 * thinned out; end: of the last round, absent while none has ended; machine: what its times were taken on, absent where
 * that is not known. Any thread. */
#ifndef HONE_SERVER_SEARCHES_H
#define HONE_SERVER_SEARCHES_H

#include "agents/search/search_report.h"
#include "workspace/base/json.h"
#include "workspace/workspace.h"

/* HONE_E_*: the ledger cannot be read; damaged lines are left out. Owned. */
int hone_searches_json(struct hone_workspace *ws, struct hone_json **ret, struct hone_err *err);

/* What the static page of one search shows: {"searches": [its row], "report": ..., "sources": {commit:
 * text}, "measured": {commit: version_facts.h}}; sources at most HONE_LIMIT_PAGE_SOURCES, those of
 * the versions on the way up first; measured of these alone. json: the report's, copied. Owned. */
struct hone_json *hone_page_data(struct hone_workspace *ws, const struct hone_search_report *report,
                                 const struct hone_json *json);

#endif
