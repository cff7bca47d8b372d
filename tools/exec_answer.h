/* SPDX-License-Identifier: Apache-2.0 */
/* What an executor makes of a runner's end: its report, or one with reason "infra" that says what
 * happened. Nothing a runner says is trusted: its report is read with a limit and through a parser
 * that checks every member. */
#ifndef HONE_TOOLS_EXEC_ANSWER_H
#define HONE_TOOLS_EXEC_ANSWER_H

#include "tools/executor.h"
#include "tools/launch/launch.h"

/* CALL/report.json, or why there is none; ret's strings live in the pool. */
void hone_exec_answer(const char *call_dir, const struct hone_job *job,
                      const struct hone_launch_end *end, struct hone_pool *pool,
                      struct hone_report *ret);
/* A report that counts against nobody. summary is borrowed. */
void hone_exec_infra(const struct hone_job *job, const char *summary, struct hone_report *ret);

#endif
