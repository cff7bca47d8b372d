/* SPDX-License-Identifier: Apache-2.0 */
/* The local executor: one hone-runner process per call, for the CPU; for devices a runner that
 * stays (exec_warm.h), because a context costs more than an evaluation.
 *
 * The runner is a program that loads code that anyone may have written into its jails, so nothing
 * it says is trusted: its report is read with a limit and through a parser that checks every
 * member. A runner that crashed, hung or wrote nonsense becomes a report with reason "infra", which
 * counts against nobody. Cancel and deadline kill the runner with SIGKILL; its jails die with it
 * (PDEATHSIG), so that a cancelled call holds no core and no lease afterwards. */
#include "tools/executor.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/exec_warm.h"
#include "workspace/base/text.h"
#include "tools/report_check.h"
#include "workspace/base/clock.h"
#include "workspace/base/file.h"
#include "workspace/base/limits.h"
#include "workspace/task/target.h"

#define PROBE_MS 30000
#define GRACE_MS                                                                                   \
    10000 /* beyond the job's own limit: a runner that keeps it writes its report in this time */

struct local {
    char *runner_path;      /* owned */
    struct hone_warm *warm; /* owned */
};

struct relay { /* progress lines on their way up */
    hone_progress_fn *on_progress;
    void *arg;
};

/* A line that is no JSON object, or too long, is dropped: progress is a courtesy. */
static void on_line(void *arg, const char *line, size_t len)
{
    const struct relay *relay = arg;

    (void)hone_warm_relay(line, len, relay->on_progress, relay->arg);
}

static void infra(const struct hone_job *job, const char *summary, struct hone_report *ret)
{
    *ret = (struct hone_report){
        .format = HONE_REPORT_FORMAT,
        .id = job->id,
        .target = job->target,
        .tier = job->tier,
        .reason = HONE_REASON_INFRA,
        .verdict = HONE_VERDICT_INFRA,
        .summary = summary,
        .worst_ratio = __builtin_nan(""),
        .percent_of_bound = __builtin_nan(""),
        .best_point = -1,
    };
}

/* What the runner left behind, in one line for the person who has to find out why. */
static const char *explain(const struct hone_process_result *result, const char *problem,
                           struct hone_pool *pool)
{
    const char *said = result->err != NULL ? result->err : "";
    size_t len = strlen(said);

    said = hone_plain_line(pool, len > 300 ? said + len - 300 : said, 300);
    if (result->timed_out)
        problem = "the runner did not end in time and was killed";
    else if (result->signal != 0)
        problem = hone_pool_printf(pool, "the runner was killed by signal %d", result->signal);
    return said[0] != '\0' ? hone_pool_printf(pool, "%s; it said: %s", problem, said)
                           : hone_pool_strdup(pool, problem);
}

static int read_report(const char *call_dir, const struct hone_job *job, struct hone_pool *pool,
                       struct hone_report *ret, struct hone_err *err)
{
    HONE_AUTOFREE char *path = hone_path_join(call_dir, "report.json", NULL);
    HONE_AUTOFREE char *text = NULL;
    size_t len = 0;
    int rc = hone_file_read_at(AT_FDCWD, path, HONE_LIMIT_REPORT_BYTES, &text, &len, err);

    if (rc == 0)
        rc = hone_report_parse(text, len, pool, ret, err);
    if (rc == 0)
        rc = hone_report_answers(ret, job, err);
    return rc;
}

static int run_warm(const struct local *local, const char *call_dir, const struct hone_job *job,
                    const struct relay *relay, const struct hone_cancel *cancel,
                    struct hone_pool *pool, struct hone_report *ret, struct hone_err *err)
{
    HONE_AUTOFREE char *job_path = hone_path_join(call_dir, "job.json", NULL);
    struct hone_err failure = HONE_ERR_INIT;
    struct hone_warm_end end;
    int64_t deadline = hone_deadline_in_ms(hone_job_most_ms(job) + GRACE_MS);
    int rc = hone_warm_run(local->warm, job_path, deadline, relay->on_progress, relay->arg, cancel,
                           &end, &failure);

    if (rc == HONE_E_CANCEL)
        return hone_fail(err, HONE_E_CANCEL, "cancelled");
    if (rc < 0) {
        infra(job, hone_pool_strdup(pool, failure.message), ret);
        return 0;
    }
    rc = end.timed_out ? HONE_E_TIMEOUT : read_report(call_dir, job, pool, ret, &failure);
    if (rc < 0) {
        struct hone_process_result result = {.exit_status = end.exit_status,
                                             .signal = end.signal,
                                             .timed_out = end.timed_out,
                                             .err = end.said};
        infra(
            job,
            explain(&result, hone_pool_printf(pool, "no usable report: %s", failure.message), pool),
            ret);
    }
    return 0;
}

static int run(void *cookie, const char *call_dir, const struct hone_job *job,
               hone_progress_fn *on_progress, void *progress_arg, const struct hone_cancel *cancel,
               struct hone_pool *pool, struct hone_report *ret, struct hone_err *err)
{
    HONE_CLEANUP(hone_process_result_done) struct hone_process_result result = {.out = NULL};
    HONE_AUTOFREE char *job_path = hone_path_join(call_dir, "job.json", NULL);
    const struct local *local = cookie;
    struct relay relay = {.on_progress = on_progress, .arg = progress_arg};
    struct hone_err failure = HONE_ERR_INIT;
    const struct hone_process_spec spec = {
        .argv = (const char *const[]){local->runner_path, job_path, NULL},
        .env = hone_runner_env(pool),
        .cwd = call_dir,
        .deadline_ns = hone_deadline_in_ms(hone_job_most_ms(job) + GRACE_MS),
        .cancel = cancel,
        .on_line = on_line,
        .on_line_arg = &relay,
    };
    int rc;

    if (hone_target_traits(job->target)->has_device)
        return run_warm(local, call_dir, job, &relay, cancel, pool, ret, err);
    rc = hone_process_run(&spec, &result, &failure);
    if (rc == HONE_E_CANCEL || hone_cancel_is_set(cancel))
        return hone_fail(err, HONE_E_CANCEL, "cancelled");
    if (rc < 0) {
        infra(job, hone_pool_strdup(pool, failure.message), ret);
        return 0;
    }
    if (result.timed_out || result.signal != 0) {
        infra(job, explain(&result, "", pool), ret);
        return 0;
    }
    rc = read_report(call_dir, job, pool, ret, &failure);
    if (rc <
        0) /* the exit status only matters when there is no answer: a bad candidate is an answer */
        infra(job,
              explain(&result,
                      hone_pool_printf(pool, "no usable report (runner's status %d): %s",
                                       result.exit_status, failure.message),
                      pool),
              ret);
    return 0;
}

/* A runner that answers one JSON value; option: of its command line, for messages too. */
static int ask(const struct local *local, const char *const *options, int64_t ms,
               struct hone_json **ret, struct hone_err *err)
{
    HONE_CLEANUP(hone_process_result_done) struct hone_process_result result = {.out = NULL};
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    const struct hone_process_spec spec = {
        .argv = (const char *const[]){local->runner_path, options[0], options[1], options[2], NULL},
        .env = hone_runner_env(pool),
        .deadline_ns = hone_deadline_in_ms(ms),
        .out_limit = HONE_LIMIT_TORCH_ANSWER,
    };
    int rc = hone_process_run(&spec, &result, err);

    if (rc < 0)
        return rc;
    if (result.timed_out || result.signal != 0 || result.exit_status != 0) {
        return hone_fail(err, HONE_E_TARGET, "hone-runner %s failed (status %d, signal %d): %s",
                         options[0], result.exit_status, result.signal,
                         hone_plain_line(pool, result.err, 200));
    }
    rc = hone_json_parse(result.out, result.out_len, ret, err);
    return rc < 0 ? hone_wrap(err, "hone-runner %s", options[0]) : 0;
}

static int local_probe(void *cookie, struct hone_json **ret, struct hone_err *err)
{
    return ask(cookie, (const char *const[]){"--probe", NULL, NULL}, PROBE_MS, ret, err);
}

static int local_describe(void *cookie, const char *file, const char *name, struct hone_json **ret,
                          struct hone_err *err)
{
    return ask(cookie, (const char *const[]){"--torch", file, name},
               1000ll * HONE_LIMIT_TORCH_SECONDS + PROBE_MS, ret, err);
}

static void local_close(void *cookie)
{
    struct local *local = cookie;

    hone_warm_free(local->warm);
    free(local->runner_path);
    free(local);
}

static char *find_runner(void)
{
    HONE_AUTOFREE char *dir = hone_exe_dir();
    static const char *const places[] = {"hone-runner", "../libexec/hone/hone-runner",
                                         "../lib/hone/hone-runner"};

    for (size_t i = 0; dir != NULL && i < HONE_COUNTOF(places); i++) {
        HONE_AUTOFREE char *path = hone_path_join(dir, places[i], NULL);
        if (hone_file_exists(path))
            return HONE_STEAL(path);
    }
    return NULL;
}

int hone_exec_local_new(const char *runner_path, struct hone_executor **ret, struct hone_err *err)
{
    HONE_AUTOFREE char *found = runner_path != NULL ? NULL : find_runner();
    const char *name = runner_path != NULL ? runner_path : found;
    /* absolute: it runs in the folder of its call */
    HONE_AUTOFREE char *path = name != NULL ? realpath(name, NULL) : NULL;
    struct hone_executor *executor;
    struct local *local;
    struct stat st;

    if (path == NULL)
        return hone_fail(err, HONE_E_NOT_FOUND,
                         "hone-runner is not at '%s'; it belongs beside the hone binary",
                         name != NULL ? name : "(beside hone)");
    if (stat(path, &st) < 0 || !S_ISREG(st.st_mode) || access(path, X_OK) < 0)
        return hone_fail(err, HONE_E_ARG, "'%s' is no program that can be run as hone-runner",
                         path);
    local = hone_calloc(1, sizeof(*local));
    local->runner_path = HONE_STEAL(path);
    local->warm = hone_warm_new(local->runner_path);
    executor = hone_calloc(1, sizeof(*executor));
    *executor = (struct hone_executor){.name = "local",
                                       .run = run,
                                       .probe = local_probe,
                                       .describe = local_describe,
                                       .close = local_close,
                                       .cookie = local};
    *ret = executor;
    return 0;
}

void hone_executor_free(struct hone_executor *executor)
{
    if (executor == NULL)
        return;
    if (executor->close != NULL)
        executor->close(executor->cookie);
    free(executor);
}
