/* SPDX-License-Identifier: Apache-2.0 */
/* A search as a terminal shows it while it runs: what hone watch prints.
 *
 * Pure text from the report; foreign text is defused. Owned. Any thread. */
#ifndef HONE_SERVER_WATCH_TEXT_H
#define HONE_SERVER_WATCH_TEXT_H

#include "agents/search/search_report.h"

/* Result, what was used, way up, tree: at most height lines of at most width characters, each with
 * its newline. Of a tree that is larger the best version, the newest ones and what they came from
 * are shown. width at least 20, height at least 8: less is taken for that. */
char *hone_watch_screen(const struct hone_search_report *report, bool is_running, size_t width,
                        size_t height);
/* One line about a step, with its newline. */
char *hone_watch_line(const struct hone_report_step *step);
/* How it stands: the result, or the best so far. Without newline. */
char *hone_watch_result(const struct hone_search_report *report, bool is_running);

#endif
