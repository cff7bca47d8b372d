/* SPDX-License-Identifier: Apache-2.0 */
/* The program's parts put together: workspace, executor, tools, jobs, searches, worker lanes.
 *
 * Lanes (one table in app.c): what a tool's flags say decides where it runs, so that a cheap read
 * never waits behind an evaluation.
 *
 *   quick  read-only tools that answer at once
 *   work   everything else that a client waits for
 *   wait   long tools without a device: they mostly wait for something (job_wait)
 *   jobs   background jobs, outside of any connection */
#ifndef HONE_SERVER_APP_H
#define HONE_SERVER_APP_H

#include "server/page/reports.h"
#include "server/exchange/beats.h"
#include "server/rpc/executors.h"
#include "server/rpc/workers.h"
#include "tools/tool.h"

enum hone_lane { HONE_LANE_QUICK, HONE_LANE_WORK, HONE_LANE_WAIT, HONE_LANE_JOBS, HONE_N_LANES };

#define HONE_BEAT_MS 10000 /* hosts give up after 30 s at the earliest */

struct hone_app_spec {
    const char *workspace_dir;
    struct hone_executor_spec executor;
    int64_t n_workers; /* evaluations at a time; 0: one */
    int64_t n_jobs;    /* background jobs at a time; 0: four */
    int64_t beat_ms;   /* between the signs of life of a silent call; 0: HONE_BEAT_MS */
    bool allow_weak_jail;
    const struct hone_tool_set *const *sets; /* NULL: every tool of hone */
    size_t n_sets;
};

/* The tools alone, without a workspace. sets NULL: every tool of hone. */
int hone_open_registry(const struct hone_tool_set *const *sets, size_t n_sets,
                       struct hone_registry **ret, struct hone_err *err);

struct hone_runtime; /* opaque: owns a struct hone_app and what it points to */

int hone_runtime_open(const struct hone_app_spec *spec, struct hone_runtime **ret,
                      struct hone_err *err);
struct hone_app *hone_runtime_app(struct hone_runtime *runtime);
struct hone_reports *hone_runtime_reports(struct hone_runtime *runtime);
/* HONE_STATE_KEY_BYTES random bytes of this process, for texts that clients bring back. */
const unsigned char *hone_runtime_key(const struct hone_runtime *runtime);
struct hone_beats *hone_runtime_beats(struct hone_runtime *runtime);
struct hone_workers *hone_runtime_lane(struct hone_runtime *runtime, enum hone_lane lane);
enum hone_lane hone_lane_of(const struct hone_tool *tool);
/* Cancels jobs and searches and waits for every worker until the deadline. false: something still
 * runs, and the process should end without hone_runtime_close (nothing is lost: the ledger holds
 * every finished answer). */
bool hone_runtime_stop(struct hone_runtime *runtime, int64_t deadline_ns);
void hone_runtime_close(struct hone_runtime *runtime); /* stops first; NULL is fine */
void hone_runtime_close_ptr(struct hone_runtime **runtime);

#endif
