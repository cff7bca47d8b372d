/* SPDX-License-Identifier: Apache-2.0 */
/* One hone-runner process per job, or one that stays: for each device, and for PyTorch modules. */
#include "tools/launch/launch.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/launch/devices.h"
#include "tools/launch/warm.h"
#include "workspace/base/clock.h"
#include "workspace/base/file.h"
#include "workspace/base/limits.h"
#include "workspace/base/json.h"
#include "workspace/base/text.h"
#include "workspace/task/target.h"

#define PROBE_MS 30000
#define TORCH_MS (1000ll * HONE_LIMIT_TORCH_PATIENCE * HONE_LIMIT_TORCH_SECONDS)

/* Runners that stay for PyTorch modules on the CPU. */
#define MOST_KEEPERS 8

struct keeper {
    struct hone_warm *warm; /* owned; NULL: not made yet */
    char *task_dir;         /* owned; of its last job */
    bool is_busy;
};

struct hone_launcher {
    char *runner_path;            /* owned */
    struct hone_devices *devices; /* owned */
    pthread_mutex_t lock;         /* guards keepers */
    struct keeper keepers[MOST_KEEPERS];
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

static void keep_end(const struct hone_process_result *result, struct hone_launch_end *ret)
{
    *ret = (struct hone_launch_end){.timed_out = result->timed_out,
                                    .exit_status = result->exit_status,
                                    .signal = result->signal};
    if (result->err != NULL) {
        size_t room = sizeof ret->said - 1, len = strlen(result->err);
        snprintf(ret->said, sizeof ret->said, "%s", result->err + (len > room ? len - room : 0));
    }
}

static int launch_cold(const struct hone_launcher *launcher, const char *call_dir,
                       const char *job_path, int64_t deadline_ns, const struct relay *relay,
                       const struct hone_cancel *cancel, struct hone_launch_end *ret,
                       struct hone_err *err)
{
    HONE_CLEANUP(hone_process_result_done) struct hone_process_result result = {.out = NULL};
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    const struct hone_process_spec spec = {
        .argv = (const char *const[]){launcher->runner_path, job_path, NULL},
        .env = hone_runner_env(NULL, pool),
        .cwd = call_dir,
        .deadline_ns = deadline_ns,
        .cancel = cancel,
        .on_line = on_line,
        .on_line_arg = (void *)(uintptr_t)relay,
    };
    int rc = hone_process_run(&spec, &result, err);

    if (rc == HONE_E_CANCEL || hone_cancel_is_set(cancel))
        return hone_fail(err, HONE_E_CANCEL, "cancelled");
    if (rc == 0)
        keep_end(&result, ret);
    return rc;
}

/* Is the reference a PyTorch module, whose process a runner keeps (runner/arena/kept.h)? */
static bool has_module(const struct hone_job *job)
{
    HONE_AUTOFREE char *path = hone_path_join(job->task_dir, "oracle.py", NULL);

    return hone_file_exists(path);
}

/* An idle one: that of the same task, else a new one, else any. NULL: all are busy. */
static struct keeper *take_keeper(struct hone_launcher *launcher, const char *task_dir)
{
    struct keeper *best = NULL;
    int best_rank = 0;

    pthread_mutex_lock(&launcher->lock);
    for (size_t i = 0; i < MOST_KEEPERS; i++) {
        struct keeper *k = &launcher->keepers[i];
        int rank = k->is_busy                                                  ? 0
                   : k->task_dir != NULL && strcmp(k->task_dir, task_dir) == 0 ? 3
                   : k->warm == NULL                                           ? 2
                                                                               : 1;
        if (rank > best_rank) {
            best = k;
            best_rank = rank;
        }
    }
    if (best != NULL) {
        best->is_busy = true;
        if (best->warm == NULL)
            best->warm = hone_warm_new(launcher->runner_path, NULL);
        free(best->task_dir);
        best->task_dir = hone_strdup(task_dir);
    }
    pthread_mutex_unlock(&launcher->lock);
    return best;
}

static void give_keeper(struct hone_launcher *launcher, struct keeper *keeper)
{
    pthread_mutex_lock(&launcher->lock);
    keeper->is_busy = false;
    pthread_mutex_unlock(&launcher->lock);
}

int hone_launch(struct hone_launcher *launcher, const char *call_dir, const struct hone_job *job,
                hone_progress_fn *on_progress, void *progress_arg, const struct hone_cancel *cancel,
                struct hone_launch_end *ret, struct hone_err *err)
{
    HONE_AUTOFREE char *job_path = hone_path_join(call_dir, "job.json", NULL);
    const struct relay relay = {.on_progress = on_progress, .arg = progress_arg};
    int64_t deadline = hone_deadline_in_ms(hone_job_most_ms(job) + HONE_LAUNCH_GRACE_MS);

    if (hone_target_traits(job->target)->has_device)
        return hone_devices_run(launcher->devices,
                                &(struct hone_device_job){
                                    .launcher = launcher,
                                    .path = job_path,
                                    .lease_path = job->lease_path,
                                    .deadline_ns = deadline,
                                    .on_progress = on_progress,
                                    .progress_arg = progress_arg,
                                    .cancel = cancel,
                                },
                                ret, err);
    struct keeper *keeper = has_module(job) ? take_keeper(launcher, job->task_dir) : NULL;
    if (keeper != NULL) {
        int rc = hone_warm_run(keeper->warm, job_path, deadline, on_progress, progress_arg, cancel,
                               ret, err);
        give_keeper(launcher, keeper);
        return rc;
    }
    return launch_cold(launcher, call_dir, job_path, deadline, &relay, cancel, ret, err);
}

/* A runner that answers one JSON value; options: its command line. */
static int ask(const struct hone_launcher *launcher, const char *const options[3], int64_t ms,
               struct hone_json **ret, struct hone_err *err)
{
    HONE_CLEANUP(hone_process_result_done) struct hone_process_result result = {.out = NULL};
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    const struct hone_process_spec spec = {
        .argv =
            (const char *const[]){launcher->runner_path, options[0], options[1], options[2], NULL},
        .env = hone_runner_env(NULL, pool),
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

int hone_launch_probe(const struct hone_launcher *launcher, struct hone_json **ret,
                      struct hone_err *err)
{
    return ask(launcher, (const char *const[]){"--probe", NULL, NULL}, PROBE_MS, ret, err);
}

int hone_launch_describe(const struct hone_launcher *launcher, const char *file, const char *name,
                         struct hone_json **ret, struct hone_err *err)
{
    return ask(launcher, (const char *const[]){"--torch", file, name}, TORCH_MS + PROBE_MS, ret,
               err);
}

int hone_launch_model(const struct hone_launcher *launcher, const char *folder,
                      struct hone_json **ret, struct hone_err *err)
{
    return ask(launcher, (const char *const[]){"--model", folder, NULL}, 2 * TORCH_MS + PROBE_MS,
               ret, err);
}

char *hone_launch_class(const struct hone_json *facts)
{
    const struct hone_json *devices = hone_json_get(hone_json_get(facts, "gpu"), "devices");
    const char *gpu = hone_json_get_str(hone_json_first(devices), "name", NULL);

    return hone_sprintf("%s, %lld cores%s%s", hone_json_get_str(facts, "cpu", "?"),
                        (long long)hone_json_get_i64(facts, "n_cores", 0), gpu != NULL ? ", " : "",
                        gpu != NULL ? gpu : "");
}

struct hone_launcher *hone_launcher_new(const char *runner_path)
{
    struct hone_launcher *launcher = hone_calloc(1, sizeof(*launcher));

    launcher->runner_path = hone_strdup(runner_path);
    launcher->devices = hone_devices_new(runner_path);
    pthread_mutex_init(&launcher->lock, NULL);
    return launcher;
}

void hone_launcher_free(struct hone_launcher *launcher)
{
    if (launcher == NULL)
        return;
    for (size_t i = 0; i < MOST_KEEPERS; i++) {
        hone_warm_free(launcher->keepers[i].warm);
        free(launcher->keepers[i].task_dir);
    }
    pthread_mutex_destroy(&launcher->lock);
    hone_devices_free(launcher->devices);
    free(launcher->runner_path);
    free(launcher);
}

const char *hone_timing_lock_path(struct hone_pool *pool)
{
    const char *dir = getenv("XDG_RUNTIME_DIR");

    if (dir != NULL && dir[0] == '/' && hone_file_exists(dir))
        return hone_pool_printf(pool, "%s/hone-timing.lock", dir);
    return hone_pool_printf(pool, "/tmp/hone-timing-%u.lock", (unsigned)getuid());
}
