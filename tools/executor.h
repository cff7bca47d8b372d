/* SPDX-License-Identifier: Apache-2.0 */
/* Who runs a job: a documented struct with several implementations. local, command and fake are
 * here; slurm is a command that server/rpc/executors.c makes.
 *
 *   run     Gets a complete call folder (job.json is written already) and blocks until report.json
 *           is there or the job ended otherwise. Returns 0 and a report, however bad the candidate.
 *           A runner that crashed or lied becomes a report with reason "infra".
 *           Negative only for HONE_E_CANCEL, with err set. ret's strings live in the pool.
 *           on_progress (may be NULL) is called on the thread that called run, before run returns.
 *   probe   What this machine gives, as JSON (device_info); owned by the caller.
 *   describe  What a PyTorch module takes and gives, as JSON (tools/import/import.h), or {"error"}
 *           or {"refused"}; owned by the caller. NULL: this executor has no such thing.
 *   model   The answer to a question about a whole model (tools/import/model.h), like describe; folder
 *           holds the question. NULL likewise.
 *   close   Frees the cookie; may be NULL.
 *
 * Calling sequence (tools/evaluate.c is the one place that evaluates so):
 *
 *     struct hone_executor *x;
 *     hone_exec_local_new(NULL, &x, err);
 *     write CALL/open/candidate.c, and CALL/job.json from hone_job_print(&job)
 *     x->run(x->cookie, call_dir, &job, on_progress, arg, cancel, pool, &report, err);
 *     hone_executor_free(x);
 *
 * Any thread; calls may overlap. All block. probe, describe and model start a runner, or ask one, and
 * wait for it: seconds for probe, up to HONE_LIMIT_TORCH_PATIENCE * HONE_LIMIT_TORCH_SECONDS and twice
 * that for describe and model. Their errors: HONE_E_TARGET (the runner failed, or answered no JSON), HONE_E_IO. */
#ifndef HONE_TOOLS_EXECUTOR_H
#define HONE_TOOLS_EXECUTOR_H

#include "tools/format/job.h"
#include "tools/format/progress.h"
#include "tools/format/report.h"
#include "workspace/base/process.h"

struct hone_executor {
    const char *name;
    int (*run)(void *cookie, const char *call_dir, const struct hone_job *job,
               hone_progress_fn *on_progress, void *progress_arg, const struct hone_cancel *cancel,
               struct hone_pool *pool, struct hone_report *ret, struct hone_err *err);
    int (*probe)(void *cookie, struct hone_json **ret, struct hone_err *err);
    int (*describe)(void *cookie, const char *file, const char *name, struct hone_json **ret,
                    struct hone_err *err);
    int (*model)(void *cookie, const char *folder, struct hone_json **ret, struct hone_err *err);
    void (*close)(void *cookie);
    void *cookie;
};

/* hone-runner as a child process; runner_path NULL: beside the running executable. */
int hone_exec_local_new(const char *runner_path, struct hone_executor **ret, struct hone_err *err);
/* Answers from a table of source text -> reason and times, without running anything (tests, demos).
 * script_path: JSON lines
 * {"match":"substring","reason":"faster","ns":1000,"delay_ms":0}; NULL: everything is correct with
 * a time made from the source's hash. */
int hone_exec_fake_new(const char *script_path, struct hone_executor **ret, struct hone_err *err);
/* Runners behind a command: `hone-runner --serve` through any launcher (tools/launch/remote.h). The
 * first one is started at once. Runners are started by need and closed after idle_ms; start_ms is
 * how long a launcher may take until its runner greets (a queue may be long). */
struct hone_command_spec {
    const char *command; /* copied */
    size_t n_runners;    /* at most at a time: 1..HONE_LIMIT_RUNNERS */
    int64_t start_ms, idle_ms;
    const struct hone_cancel *cancel; /* ends the wait for the first runner; may be NULL */
};
int hone_exec_command_new(const struct hone_command_spec *spec, struct hone_executor **ret,
                          struct hone_err *err);
void hone_executor_free(struct hone_executor *executor);

#endif
