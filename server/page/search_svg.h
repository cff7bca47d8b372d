/* SPDX-License-Identifier: Apache-2.0 */
/* A search's way up as a picture: SVG without a browser, for a README or a mail.
 *
 * x: evaluations; y: speedup over the baseline, logarithmic. A dot a version, a sign a verdict, the
 * line of the best, whiskers of what was confirmed; below it the ideas that brought something. All
 * text is escaped. */
#ifndef HONE_SERVER_SEARCH_SVG_H
#define HONE_SERVER_SEARCH_SVG_H

#include "agents/search/search_report.h"

char *hone_search_svg(const struct hone_search_report *report); /* owned */

#endif
