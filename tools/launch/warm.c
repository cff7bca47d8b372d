/* SPDX-License-Identifier: Apache-2.0 */
/* The runner that stays (warm.h).
 *
 * State: one child process, started by the first job and again after it died; a turn lock,
 * since jobs go one at a time. A job is a path on the child's input; its answer is a line,
 * with progress lines before it. At the deadline the child is killed, and the next job starts
 * a new one. */
#include "tools/launch/warm.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "workspace/base/clock.h"
#include "workspace/base/limits.h"

#define JOB_FD   "3" /* where the runner reads its jobs: the first descriptor that is passed */
#define SLICE_MS 100

struct hone_warm {
    char *runner_path;    /* owned */
    char *device;         /* owned; NULL: any */
    pthread_mutex_t turn; /* held for a whole job */
    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t changed;
    pthread_t thread; /* runs hone_process_run for the runner's whole life */
    bool has_thread, has_ended, is_answered;
    int jobs_fd; /* our end of the pipe of jobs */
    int start_code;
    struct hone_cancel kill;
    struct hone_process_result result;
    struct hone_err start_err;
    hone_progress_fn *on_progress;
    void *progress_arg;
};

bool hone_warm_relay(const char *line, size_t len, hone_progress_fn *on_progress, void *arg)
{
    HONE_AUTOJSON struct hone_json *json = NULL;
    struct hone_progress progress = {.message = NULL};
    if (len > HONE_LIMIT_PROGRESS_BYTES || hone_json_parse(line, len, &json, NULL) < 0 ||
        hone_json_type(json) != HONE_JSON_OBJECT)
        return false;
    if (strcmp(hone_json_get_str(json, "stage", ""), "done") == 0)
        return true;
    progress.message =
        hone_json_get_str(json, "message", hone_json_get_str(json, "stage", "working"));
    progress.done = hone_json_get_f64(json, "done", 0);
    progress.total = hone_json_get_f64(json, "total", 0);
    if (on_progress != NULL)
        on_progress(arg, &progress);
    return false;
}

static void on_line(void *arg, const char *line, size_t len)
{
    struct hone_warm *warm = arg;
    pthread_mutex_lock(&warm->lock);
    hone_progress_fn *on_progress = warm->on_progress;
    void *progress_arg = warm->progress_arg;
    pthread_mutex_unlock(&warm->lock);
    if (!hone_warm_relay(line, len, on_progress, progress_arg))
        return;
    pthread_mutex_lock(&warm->lock);
    warm->is_answered = true;
    pthread_cond_broadcast(&warm->changed);
    pthread_mutex_unlock(&warm->lock);
}

/* Local configuration that the runner may see, by how it begins; everything else of our environment
 * stays here. */
static const char *const passed_variables[] = {
    "HONE_CUDA_LIB=",       "HONE_CUDA_HOME=",    "HONE_CUDA_INCLUDE=",
    "HONE_DEVICE_JAIL=",    "HONE_CC=",           "HONE_CXX=",
    "HONE_OBJECTS=",        "HONE_PYTHON=",       "HONE_TORCH_SECONDS=",
    "HONE_TORCH_COMPILE=",  "HONE_TORCH_DEVICE=", "HONE_EMULATOR_",
    "CUDA_VISIBLE_DEVICES="};
#define MOST_PASSED 32

/* "GPU-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx" */
static const char *visible_device(const char *d, struct hone_pool *pool)
{
    return hone_pool_printf(pool, "CUDA_VISIBLE_DEVICES=GPU-%.8s-%.4s-%.4s-%.4s-%.12s", d, d + 8,
                            d + 12, d + 16, d + 20);
}

const char *const *hone_runner_env(const char *device, struct hone_pool *pool)
{
    const char **ret = hone_pool_alloc(pool, (MOST_PASSED + 3) * sizeof(*ret));
    size_t n = 0;
    ret[n++] = "PATH=/usr/bin:/bin";
    ret[n++] = "LANG=C";
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (cache != NULL && cache[0] == '/')
        ret[n++] = hone_pool_printf(pool, "XDG_CACHE_HOME=%s", cache);
    else if (home != NULL && home[0] == '/')
        ret[n++] = hone_pool_printf(pool, "XDG_CACHE_HOME=%s/.cache", home);
    for (char **own = environ; *own != NULL; own++)
        for (size_t i = 0; i < HONE_COUNTOF(passed_variables) && n < MOST_PASSED; i++)
            if (strncmp(*own, passed_variables[i], strlen(passed_variables[i])) == 0 &&
                (device == NULL || strncmp(*own, "CUDA_VISIBLE", 12) != 0))
                ret[n++] = hone_pool_strdup(pool, *own);
    if (device != NULL)
        ret[n++] = visible_device(device, pool);
    ret[n] = NULL;
    return ret;
}

struct life { /* what the runner's thread takes with it */
    struct hone_warm *warm;
    int read_fd;
};

static void *live(void *arg)
{
    HONE_AUTOFREE struct life *life = arg;
    struct hone_warm *warm = life->warm;
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    const struct hone_process_spec spec = {
        .argv = (const char *const[]){warm->runner_path, "--warm", JOB_FD, NULL},
        .env = hone_runner_env(warm->device, pool),
        .deadline_ns = HONE_NO_DEADLINE,
        .cancel = &warm->kill,
        .on_line = on_line,
        .on_line_arg = warm,
        .pass_fds = {life->read_fd},
        .n_pass_fds = 1,
    };
    int code = hone_process_run(&spec, &warm->result, &warm->start_err);
    close(life->read_fd);
    pthread_mutex_lock(&warm->lock);
    warm->has_ended = true;
    warm->start_code = code;
    pthread_cond_broadcast(&warm->changed);
    pthread_mutex_unlock(&warm->lock);
    return NULL;
}

struct hone_warm *hone_warm_new(const char *runner_path, const char *device)
{
    struct hone_warm *warm = hone_calloc(1, sizeof *warm);
    pthread_condattr_t attributes;
    warm->runner_path = hone_strdup(runner_path);
    warm->device = device != NULL ? hone_strdup(device) : NULL;
    warm->jobs_fd = -1;
    pthread_mutex_init(&warm->turn, NULL);
    pthread_mutex_init(&warm->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&warm->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    return warm;
}

/* Without its thread the runner is gone with everything it started. */
static void end_runner(struct hone_warm *warm)
{
    if (!warm->has_thread)
        return;
    hone_cancel_set(&warm->kill);
    pthread_join(warm->thread, NULL);
    hone_cancel_done(&warm->kill);
    hone_close_fd(&warm->jobs_fd);
    hone_process_result_done(&warm->result);
    warm->has_thread = false;
}

static int start_runner(struct hone_warm *warm, struct hone_err *err)
{
    int ends[2];
    int code = hone_cancel_init(&warm->kill, err);
    if (code < 0)
        return code;
    if (pipe2(ends, O_CLOEXEC) != 0) {
        hone_cancel_done(&warm->kill);
        return hone_fail_errno(err, errno, "cannot make a pipe");
    }
    struct life *life = hone_calloc(1, sizeof *life);
    *life = (struct life){.warm = warm, .read_fd = ends[0]};
    warm->result = (struct hone_process_result){.out = NULL};
    warm->start_err = (struct hone_err)HONE_ERR_INIT;
    warm->has_ended = false;
    warm->start_code = 0;
    int native = pthread_create(&warm->thread, NULL, live, life);
    if (native != 0) {
        free(life);
        close(ends[0]);
        close(ends[1]);
        hone_cancel_done(&warm->kill);
        return hone_fail_errno(err, native, "cannot start a thread");
    }
    warm->jobs_fd = ends[1];
    warm->has_thread = true;
    return 0;
}

void hone_warm_free(struct hone_warm *warm)
{
    if (warm == NULL)
        return;
    end_runner(warm);
    pthread_cond_destroy(&warm->changed);
    pthread_mutex_destroy(&warm->lock);
    pthread_mutex_destroy(&warm->turn);
    free(warm->runner_path);
    free(warm->device);
    free(warm);
}

/* SIGPIPE is ignored program-wide (hone_process_init): a dead runner shows as EPIPE. */
static bool send_job(struct hone_warm *warm, const char *job_path)
{
    HONE_AUTOFREE char *line = hone_sprintf("%s\n", job_path);
    size_t len = strlen(line);
    for (size_t at = 0; at < len;) {
        ssize_t n = write(warm->jobs_fd, line + at, len - at);
        if (n < 0 && errno != EINTR)
            return false;
        at += n > 0 ? (size_t)n : 0;
    }
    return true;
}

/* Until the answer, the runner's end, cancel or deadline. lock is held. */
static void wait_answer(struct hone_warm *warm, int64_t deadline_ns,
                        const struct hone_cancel *cancel)
{
    while (!warm->is_answered && !warm->has_ended && !hone_cancel_is_set(cancel) &&
           hone_now_ns() < deadline_ns) {
        int64_t until = hone_min_i64(deadline_ns, hone_now_ns() + SLICE_MS * HONE_NS_PER_MS);
        struct timespec at = {.tv_sec = until / HONE_NS_PER_S, .tv_nsec = until % HONE_NS_PER_S};
        pthread_cond_timedwait(&warm->changed, &warm->lock, &at);
    }
}

static int run_job(struct hone_warm *warm, const char *job_path, int64_t deadline_ns,
                   const struct hone_cancel *cancel, struct hone_launch_end *ret,
                   struct hone_err *err)
{
    *ret = (struct hone_launch_end){.exit_status = -1};
    bool is_sent = send_job(warm, job_path);
    pthread_mutex_lock(&warm->lock);
    if (is_sent)
        wait_answer(warm, deadline_ns, cancel);
    bool has_answered = warm->is_answered;
    pthread_mutex_unlock(&warm->lock);
    if (has_answered) {
        ret->exit_status = 0;
        return 0;
    }
    bool is_cancelled = hone_cancel_is_set(cancel);
    ret->timed_out = hone_now_ns() >= deadline_ns;
    hone_cancel_set(&warm->kill);
    pthread_join(warm->thread, NULL); /* the result is ours to read now */
    ret->exit_status = warm->result.exit_status;
    ret->signal = ret->timed_out ? 0 : warm->result.signal;
    if (warm->result.err != NULL) {
        size_t len = strlen(warm->result.err);
        snprintf(ret->said, sizeof ret->said, "%s",
                 warm->result.err + (len >= sizeof ret->said ? len - sizeof ret->said + 1 : 0));
    }
    int code = warm->start_code;
    hone_cancel_done(&warm->kill);
    hone_close_fd(&warm->jobs_fd);
    hone_process_result_done(&warm->result);
    warm->has_thread = false;
    if (is_cancelled)
        return hone_fail(err, HONE_E_CANCEL, "cancelled");
    return code < 0 && code != HONE_E_CANCEL
               ? hone_fail(err, warm->start_err.code, "%s", warm->start_err.message)
               : 0;
}

int hone_warm_run(struct hone_warm *warm, const char *job_path, int64_t deadline_ns,
                  hone_progress_fn *on_progress, void *progress_arg,
                  const struct hone_cancel *cancel, struct hone_launch_end *ret,
                  struct hone_err *err)
{
    int code = 0;
    pthread_mutex_lock(&warm->turn);
    pthread_mutex_lock(&warm->lock);
    bool is_gone = warm->has_thread && warm->has_ended;
    warm->is_answered = false;
    warm->on_progress = on_progress;
    warm->progress_arg = progress_arg;
    pthread_mutex_unlock(&warm->lock);
    if (is_gone)
        end_runner(warm);
    if (!warm->has_thread)
        code = start_runner(warm, err);
    if (code == 0)
        code = run_job(warm, job_path, deadline_ns, cancel, ret, err);
    pthread_mutex_lock(&warm->lock);
    warm->on_progress = NULL;
    pthread_mutex_unlock(&warm->lock);
    pthread_mutex_unlock(&warm->turn);
    return code;
}
