/* SPDX-License-Identifier: Apache-2.0 */
/* The job of a calibration: the baseline twice (as it is, and with the sums in another order), and
 * once in the next lower type. */
#include "tools/task/calibrate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tools/task/bad_kernels.h"
#include "tools/format/verdict.h"
#include "workspace/base/clock.h"
#include "workspace/base/file.h"

#define CALL_TIMEOUT_MS 60000
#define JAIL_BYTES      (4ll << 30)
#define EXTRA_MS        240000 /* of the job, besides the budget: builds and the first contents */

static int write_open(const char *dir, const char *file, const char *text, struct hone_err *err)
{
    HONE_AUTOFREE char *path = hone_path_join(dir, "open", file, NULL);
    return hone_file_write(path, text, strlen(text), 0600, false, err);
}

static int write_call(const struct hone_task *task, const char *dir, const struct hone_job *job,
                      struct hone_err *err)
{
    const struct hone_arm *arms = job->arms.v;
    HONE_AUTOFREE char *open_dir = hone_path_join(dir, "open", NULL);
    HONE_AUTOFREE char *sealed_dir = hone_path_join(dir, "sealed", NULL);
    HONE_AUTOFREE char *path = hone_path_join(dir, "job.json", NULL);
    HONE_AUTOFREE char *text = hone_job_print(job);
    HONE_AUTOFREE char *naive = NULL;
    int code = hone_mkdirs(open_dir, 0700, err);
    if (code == 0)
        code = hone_mkdirs(sealed_dir, 0700, err);
    if (code == 0)
        code = hone_task_naive(task, job->target, &naive, err);
    if (code == 0)
        code = write_open(dir, arms[0].source, naive, err);
    if (code == 0 && job->arms.n > 2) {
        HONE_AUTOFREE char *lowered = hone_lowered_kernel(task, naive);
        code = write_open(dir, arms[2].source, lowered, err);
    }
    return code == 0 ? hone_file_write(path, text, strlen(text), 0600, false, err) : code;
}

static int run_job(const struct hone_task *task, const struct hone_calibrate_options *options,
                   const char *dir, struct hone_pool *pool, struct hone_report *ret,
                   struct hone_err *err)
{
    const char *stage_names[] = {"build", "calibrate"};
    const struct hone_target_traits *target = hone_target_traits(options->target);
    const char *flags[HONE_COUNTOF(target->loose_math)];
    const char *source = hone_pool_printf(pool, "candidate.%s", target->extension);
    size_t n_flags = 0;

    for (; target->loose_math[n_flags] != NULL; n_flags++)
        flags[n_flags] = target->loose_math[n_flags];
    struct hone_arm arms[] = {
        {.name = "candidate", .source = source},
        {.name = "second", .source = source, .flags = {flags, n_flags}},
        {.name = "lowered", .source = "lowered.c"},
    };
    bool has_lowered = !target->has_device && hone_has_lowered_kernel(task);
    int64_t budget_ms = options->budget_ms > 0 ? options->budget_ms : HONE_CALIBRATE_MS;
    HONE_AUTOFREE char *own = hone_path_join(dir, "objects", NULL);
    const char *cache = options->objects_dir ? options->objects_dir : own;
    struct hone_job job = {
        .format = HONE_JOB_FORMAT,
        .id = "calibrate",
        .target = options->target,
        .tier = HONE_TIER_DECIDE,
        .stages = {stage_names, HONE_COUNTOF(stage_names)},
        .task_dir = task->dir,
        .task_hash = task->hash,
        .arms = {arms, has_lowered ? 3 : 2},
        .n_hidden = options->n_hidden,
        .budget_ms = budget_ms,
        .timeout_ms = hone_min_i64(EXTRA_MS + 5 * budget_ms, HONE_LIMIT_TIMEOUT_MS),
        .call_timeout_ms = CALL_TIMEOUT_MS,
        .memory_bytes = JAIL_BYTES,
        .jail = "auto",
        .allow_weak_jail = options->allow_weak_jail,
        .cache_dir = cache,
    };
    int code = hone_mkdirs(cache, 0700, err);
    if (code == 0)
        code = write_call(task, dir, &job, err);
    return code == 0
               ? options->executor->run(options->executor->cookie, dir, &job, options->on_progress,
                                        options->progress_arg, options->cancel, pool, ret, err)
               : code;
}

static const char *today(struct hone_pool *pool)
{
    char text[16];
    time_t now = (time_t)(hone_wall_ms() / 1000);
    struct tm parts;
    gmtime_r(&now, &parts);
    strftime(text, sizeof(text), "%Y-%m-%d", &parts);
    return hone_pool_strdup(pool, text);
}

static int judge_report(const struct hone_task *task, const struct hone_calibrate_options *options,
                        const struct hone_report *report, struct hone_pool *pool,
                        struct hone_calibrate *ret, struct hone_err *err)
{
    enum hone_verdict verdict = hone_reason_row(report->reason)->verdict;
    if (verdict == HONE_VERDICT_INFRA)
        return hone_fail(err, HONE_E_TARGET, "%.300s", report->summary ? report->summary : "");
    if (verdict != HONE_VERDICT_BUILT && verdict != HONE_VERDICT_CORRECT)
        return hone_fail(err, HONE_E_ARG, "task '%s' cannot be calibrated: %.300s", task->name,
                         report->summary ? report->summary : "");
    int code = hone_calibrate_judge(task, report, options->margin, pool, ret, err);
    if (code == 0)
        ret->date = today(pool);
    return code;
}

int hone_calibrate(const struct hone_task *task, const struct hone_calibrate_options *options,
                   struct hone_pool *pool, struct hone_calibrate *ret, struct hone_err *err)
{
    char own[] = "/tmp/hone-calibrate-XXXXXX";
    struct hone_report report = {.reason = HONE_REASON_NONE};
    if (!options->scratch_dir && !mkdtemp(own))
        return hone_fail_errno(err, errno, "folder for the calibration's call");
    const char *dir = options->scratch_dir ? options->scratch_dir : own;
    int code = run_job(task, options, dir, pool, &report, err);
    if (!options->scratch_dir)
        hone_remove_tree(dir, NULL); /* what the caller learns of matters more */
    return code == 0 ? judge_report(task, options, &report, pool, ret, err) : code;
}
