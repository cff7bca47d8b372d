/* SPDX-License-Identifier: Apache-2.0 */
/* Runs hone-runner on this machine for one job after the other: a process per job for the CPU; one
 * that stays (warm.h) for devices and for tasks of PyTorch modules, because a context, or importing
 * torch, costs more than an evaluation.
 *
 *     struct hone_launcher *launcher = hone_launcher_new("/usr/lib/hone/hone-runner");
 *     write CALL/open/candidate.c and CALL/job.json
 *     hone_launch(launcher, "CALL", &job, on_progress, arg, cancel, &end, &err);
 *     read CALL/report.json; when there is none, end tells why
 *     hone_launcher_free(launcher);
 *
 * Cancel and deadline kill the runner with all that it started: a cancelled call holds no core and
 * no lease afterwards. Any thread; calls may overlap. */
#ifndef HONE_LAUNCH_LAUNCH_H
#define HONE_LAUNCH_LAUNCH_H

#include "tools/format/job.h"
#include "tools/format/progress.h"
#include "workspace/base/json.h"
#include "workspace/base/process.h"

#define HONE_LAUNCH_SAID_BYTES 400
/* Beyond the job's own limit: a runner that keeps that limit writes its report in this time. */
#define HONE_LAUNCH_GRACE_MS 10000

struct hone_launch_end { /* how the runner ended */
    bool timed_out;
    int exit_status, signal;
    char said[HONE_LAUNCH_SAID_BYTES]; /* the last of its stderr */
};

struct hone_launcher;

struct hone_launcher *hone_launcher_new(const char *runner_path); /* absolute */
void hone_launcher_free(struct hone_launcher *launcher);          /* NULL is fine */
/* 0 with *ret, HONE_E_CANCEL, or why no runner could be started. Blocks. */
int hone_launch(struct hone_launcher *launcher, const char *call_dir, const struct hone_job *job,
                hone_progress_fn *on_progress, void *progress_arg, const struct hone_cancel *cancel,
                struct hone_launch_end *ret, struct hone_err *err);
/* What this machine gives, as `hone-runner --probe` prints it; owned by the caller. */
int hone_launch_probe(const struct hone_launcher *launcher, struct hone_json **ret,
                      struct hone_err *err);
/* What a PyTorch module takes and gives, as `hone-runner --torch` prints it; owned by the caller. */
int hone_launch_describe(const struct hone_launcher *launcher, const char *file, const char *name,
                         struct hone_json **ret, struct hone_err *err);
/* The answer of `hone-runner --model FOLDER`; owned by the caller. */
int hone_launch_model(const struct hone_launcher *launcher, const char *folder,
                      struct hone_json **ret, struct hone_err *err);

/* What kind of machine those facts tell: "AMD EPYC 9B45, 2 cores, NVIDIA H200". Timings of
 * different classes are never compared. Owned by the caller. */
char *hone_launch_class(const struct hone_json *facts);

/* The lock of the one timing at a time on this machine, whatever the workspace; in the pool. */
const char *hone_timing_lock_path(struct hone_pool *pool);

#endif
