/* SPDX-License-Identifier: Apache-2.0 */
/* What to do after an evaluation, in one sentence that names an act.
 *
 * Pure functions of a report; texts live in the pool. Any thread. */
#ifndef HONE_FORMAT_NEXT_TEXT_H
#define HONE_FORMAT_NEXT_TEXT_H

#include "tools/format/report.h"

/* After a figure that load disturbed: the arguments to call again with, what other programs used
 * and the limit below which it would do. Else what the reason's row says (verdict.h). */
const char *hone_next_text(const struct hone_report *report, struct hone_pool *pool);

#endif
