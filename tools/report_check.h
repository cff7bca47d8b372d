/* SPDX-License-Identifier: Apache-2.0 */
/* Is a report an answer to its job? hone_report_parse knows that a report is well formed; this
 * knows what was asked, and that its claim does not contradict its own figures. A runner that lies
 * in every figure alike cannot be told from an honest one. */
#ifndef HONE_TOOLS_REPORT_CHECK_H
#define HONE_TOOLS_REPORT_CHECK_H

#include "tools/format/job.h"
#include "tools/format/report.h"

/* HONE_E_CORRUPT and what is wrong. Members that say which call it is may lack only where the
 * report claims nothing (infra, invalid). */
int hone_report_answers(const struct hone_report *report, const struct hone_job *job,
                        struct hone_err *err);

#endif
