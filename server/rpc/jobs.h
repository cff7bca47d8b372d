/* SPDX-License-Identifier: Apache-2.0 */
/* Background jobs: a tool call that outlives the request which started it. Implements struct
 * hone_jobs of tools/tool.h.
 *
 * States: queued -> running -> done | failed | cancelled. Finished ones are kept HONE_JOB_KEEP_MS,
 * and at most HONE_LIMIT_JOBS in all: the oldest finished go first. Handles are random and mean
 * nothing after a restart; what a job made is in the history. */
#ifndef HONE_SERVER_JOBS_H
#define HONE_SERVER_JOBS_H

#include "server/rpc/workers.h"
#include "tools/tool.h"

#define HONE_JOB_KEEP_MS 3600000

/* app and lane are borrowed; app->registry is used when a job runs. */
struct hone_jobs *hone_jobs_new(struct hone_app *app, struct hone_workers *lane);
void hone_jobs_cancel_all(struct hone_jobs *jobs); /* any thread; starts nothing any more */
/* When the lane has stopped; NULL is fine. */
void hone_jobs_free(struct hone_jobs *jobs);

#endif
