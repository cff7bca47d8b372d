/* SPDX-License-Identifier: Apache-2.0 */
/* A hone-runner that stays: `hone-runner --warm FD` reads job paths, one a line, and keeps what is
 * dear to make (device context, compile server, arenas) from one job to the next.
 *
 * One job at a time; further callers wait for their turn. A runner that dies, hangs or is
 * cancelled in the middle is killed with everything it started, and the next job starts a new
 * one. Any thread. */
#ifndef HONE_LAUNCH_WARM_H
#define HONE_LAUNCH_WARM_H

#include "tools/launch/launch.h"

struct hone_warm;

/* device: uuid of the one that its jobs get, 32 hex digits; NULL: whatever the driver shows. */
struct hone_warm *hone_warm_new(const char *runner_path, const char *device);
void hone_warm_free(struct hone_warm *warm); /* ends the runner; NULL is fine */
/* 0 with *ret, HONE_E_CANCEL, or why no runner could be started. exit_status 0: the runner said
 * that the job is done; otherwise it ended instead. */
int hone_warm_run(struct hone_warm *warm, const char *job_path, int64_t deadline_ns,
                  hone_progress_fn *on_progress, void *progress_arg,
                  const struct hone_cancel *cancel, struct hone_launch_end *ret,
                  struct hone_err *err);

/* Environment of every runner: a minimal one and the variables of local configuration that it
 * reads (HONE_CUDA_LIB and so on), with a device (NULL: none) that one alone. In the pool,
 * NULL-terminated. */
const char *const *hone_runner_env(const char *device, struct hone_pool *pool);

/* A progress line of the runner, told on; lines that are none are dropped. true: it says that a job
 * is done. */
bool hone_warm_relay(const char *line, size_t len, hone_progress_fn *on_progress, void *arg);

#endif
