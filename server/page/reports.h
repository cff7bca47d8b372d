/* SPDX-License-Identifier: Apache-2.0 */
/* Reports of searches that are asked for again and again, by pages that stay open: the last few are
 * kept and read on, so that a search of ten thousand versions costs its ledger once. Any thread. */
#ifndef HONE_SERVER_REPORTS_H
#define HONE_SERVER_REPORTS_H

#include "workspace/workspace.h"

struct hone_reports;
struct hone_reports *hone_reports_new(struct hone_workspace *ws); /* ws: borrowed */
void hone_reports_free(struct hone_reports *reports);             /* NULL is fine */
/* The report as JSON (hone_search_report_json) with its "position", owned; NULL: no such search, or
 * the ledger cannot be read. since: a position that was told before; steps and evaluations that the
 * reader has are then left out, and "since" says behind how many of each the others come. NULL, or
 * of another search: all of it. */
char *hone_reports_text(struct hone_reports *reports, const char *name, const char *since);

#endif
