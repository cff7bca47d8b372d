/* SPDX-License-Identifier: Apache-2.0 */
/* Background jobs (jobs.h has the states).
 *
 * State: one list of jobs under one lock; a job is counted by the list, by its worker and by
 * those who wait for it, and freed with the last. Waiting is on a condition variable with a
 * deadline. prune drops finished jobs by age and number each time one is added. */
#include "server/rpc/jobs.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include "workspace/base/clock.h"
#include "workspace/base/hash.h"
#include "workspace/base/limits.h"
#include "workspace/base/log.h"

struct waiter { /* lives on the waiting thread's stack */
    int fd;
    struct waiter *next;
};

struct job {
    char id[24];
    struct jobs *owner;
    size_t n_refs; /* owner->lock: the table, the worker, every waiter */
    char *tool;
    struct hone_json *args;
    char *caller;
    struct hone_cancel cancel;
    enum hone_job_status status; /* owner->lock, and all below */
    double done, total;
    char message[200];
    struct hone_json *result; /* written once, then only read */
    enum hone_code code;      /* of a failure without an answer */
    int64_t end_ns, created_ms, updated_ms;
    struct waiter *waiters;
    struct job *next;
};

struct jobs {
    struct hone_jobs base;
    struct hone_app *app;
    struct hone_workers *lane;
    pthread_mutex_t lock;
    bool is_stopping; /* lock */
    struct job *list; /* lock; newest first */
    size_t n;         /* lock */
};

static struct jobs *from_base(struct hone_jobs *base)
{
    return (struct jobs *)base; /* first member */
}

static bool has_ended(const struct job *job)
{
    return job->status >= HONE_JOB_DONE;
}

static void job_unref(struct job *job) /* lock held */
{
    if (--job->n_refs > 0)
        return;
    hone_cancel_done(&job->cancel);
    hone_json_free(job->args);
    hone_json_free(job->result);
    free(job->tool);
    free(job->caller);
    free(job);
}

static struct job *find(struct jobs *jobs, const char *id) /* lock held */
{
    for (struct job *job = jobs->list; job; job = job->next)
        if (strcmp(job->id, id) == 0)
            return job;
    return NULL;
}

/* Forgets finished jobs: those past their time, and the oldest one of more than max. Lock held. */
static void prune(struct jobs *jobs, size_t max)
{
    int64_t now = hone_now_ns();
    struct job **oldest = NULL;
    for (struct job **link = &jobs->list; *link;) {
        struct job *job = *link;
        if (has_ended(job) && now - job->end_ns > HONE_JOB_KEEP_MS * HONE_NS_PER_MS) {
            *link = job->next;
            jobs->n--;
            job_unref(job);
            continue;
        }
        if (has_ended(job))
            oldest = link;
        link = &job->next;
    }
    if (jobs->n > max && oldest) {
        struct job *job = *oldest;
        *oldest = job->next;
        jobs->n--;
        job_unref(job);
    }
}

static void on_progress(void *arg, const struct hone_progress *progress)
{
    struct job *job = arg;
    pthread_mutex_lock(&job->owner->lock);
    job->done = progress->done;
    job->total = progress->total;
    job->updated_ms = hone_wall_ms();
    if (progress->message)
        snprintf(job->message, sizeof(job->message), "%s", progress->message);
    pthread_mutex_unlock(&job->owner->lock);
}

/* What a job that ended with a C error leaves behind: the head of a result. */
static struct hone_json *failure(const struct hone_err *err)
{
    struct hone_json *result = hone_json_new_object();
    hone_json_set_str(result, "status", "error");
    hone_json_set_str(result, "error_class", err->code == HONE_E_CANCEL ? "request" : "infra");
    hone_json_set_str(result, "summary", err->message);
    return result;
}

static void job_end(struct job *job, enum hone_job_status status, enum hone_code code,
                    struct hone_json *result)
{
    struct jobs *jobs = job->owner;
    pthread_mutex_lock(&jobs->lock);
    job->status = status;
    job->code = code;
    job->result = result;
    job->end_ns = hone_now_ns();
    job->updated_ms = hone_wall_ms();
    for (struct waiter *waiter = job->waiters; waiter; waiter = waiter->next)
        eventfd_write(waiter->fd, 1);
    hone_log(HONE_LOG_INFO, "event=job id=%s tool=%s status=%s", job->id, job->tool,
             hone_job_status_name(status));
    job_unref(job);
    pthread_mutex_unlock(&jobs->lock);
}

static void run_job(void *arg)
{
    struct job *job = arg;
    struct jobs *jobs = job->owner;
    pthread_mutex_lock(&jobs->lock);
    job->status = HONE_JOB_RUNNING;
    pthread_mutex_unlock(&jobs->lock);
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_tool_ctx ctx = {
        .app = jobs->app,
        .pool = pool,
        .cancel = &job->cancel,
        .on_progress = on_progress,
        .progress_arg = job,
        .caller = job->caller,
    };
    struct hone_err err = HONE_ERR_INIT;
    struct hone_json *result = NULL;
    bool is_error = false;
    int rc = hone_cancel_is_set(&job->cancel)
                 ? hone_fail(&err, HONE_E_CANCEL, "cancelled before it started")
                 : hone_registry_call(&ctx, job->tool, job->args, &result, &is_error, &err);
    enum hone_job_status status = HONE_JOB_DONE;
    if (rc == HONE_E_CANCEL || (is_error && hone_cancel_is_set(&job->cancel)))
        status = HONE_JOB_CANCELLED;
    else if (rc < 0 || is_error)
        status = HONE_JOB_FAILED;
    job_end(job, status, rc < 0 ? err.code : HONE_OK, rc < 0 ? failure(&err) : result);
}

static int jobs_start(struct hone_jobs *base, const char *name, const struct hone_json *args,
                      const char *caller, struct hone_pool *pool, const char **ret_id,
                      struct hone_err *err)
{
    struct jobs *jobs = from_base(base);
    struct job *job = hone_calloc(1, sizeof(*job));
    int rc = hone_cancel_init(&job->cancel, err);
    if (rc < 0) {
        free(job);
        return rc;
    }
    char random[17];
    hone_random_hex(random, 6);
    snprintf(job->id, sizeof(job->id), "job-%s", random);
    job->owner = jobs;
    job->created_ms = job->updated_ms = hone_wall_ms();
    job->n_refs = 2;
    job->tool = hone_strdup(name);
    job->args = args ? hone_json_copy(args) : NULL;
    job->caller = hone_strdup(caller ? caller : "unknown");
    const char *id = hone_pool_strdup(pool, job->id);
    pthread_mutex_lock(&jobs->lock);
    prune(jobs, HONE_LIMIT_JOBS - 1); /* room for this one */
    if (jobs->is_stopping)
        rc = hone_fail(err, HONE_E_BUSY, "hone is stopping and starts no more jobs");
    else if (jobs->n >= HONE_LIMIT_JOBS)
        rc = hone_fail(err, HONE_E_BUSY, "%zu jobs are queued or running; wait for one to end",
                       jobs->n);
    else
        rc = hone_workers_submit(jobs->lane, hone_turn_of(job->caller, ""), run_job, job, err);
    if (rc == 0) {
        job->next = jobs->list;
        jobs->list = job;
        jobs->n++;
        *ret_id = id;
    } else {
        job->n_refs = 1;
        job_unref(job);
    }
    pthread_mutex_unlock(&jobs->lock);
    return rc;
}

static void fill_state(const struct job *job, struct hone_pool *pool,
                       struct hone_job_state *ret) /* lock held */
{
    *ret = (struct hone_job_state){
        .id = hone_pool_strdup(pool, job->id),
        .status = job->status,
        .done = job->done,
        .total = job->total,
        .message = hone_pool_strdup(pool, job->message),
        .code = job->code,
        .created_ms = job->created_ms,
        .updated_ms = job->updated_ms,
    };
}

static void free_json(void *json)
{
    hone_json_free(json);
}

static int no_job(const char *id, struct hone_err *err)
{
    return hone_fail(err, HONE_E_NOT_FOUND,
                     "no job '%.40s'; finished ones are kept for an hour and none survives a "
                     "restart (history_show does)",
                     id);
}

static int jobs_wait(struct hone_jobs *base, const char *id, int64_t deadline_ns,
                     const struct hone_cancel *cancel, struct hone_pool *pool,
                     struct hone_job_state *ret, struct hone_err *err)
{
    struct jobs *jobs = from_base(base);
    HONE_AUTOCLOSE int event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (event_fd < 0)
        return hone_fail_errno(err, errno, "cannot wait for a job");
    struct waiter waiter = {.fd = event_fd};
    pthread_mutex_lock(&jobs->lock);
    struct job *job = find(jobs, id);
    if (!job) {
        pthread_mutex_unlock(&jobs->lock);
        return no_job(id, err);
    }
    job->n_refs++;
    waiter.next = job->waiters;
    job->waiters = &waiter;
    bool is_cancelled = false;
    while (!has_ended(job) && !is_cancelled && hone_now_ns() < deadline_ns) {
        pthread_mutex_unlock(&jobs->lock);
        struct pollfd fds[2] = {{.fd = event_fd, .events = POLLIN},
                                {.fd = cancel ? cancel->event_fd : -1, .events = POLLIN}};
        poll(fds, HONE_COUNTOF(fds), hone_ms_until(deadline_ns));
        is_cancelled = hone_cancel_is_set(cancel);
        pthread_mutex_lock(&jobs->lock);
    }
    for (struct waiter **link = &job->waiters; *link; link = &(*link)->next)
        if (*link == &waiter) {
            *link = waiter.next;
            break;
        }
    if (!is_cancelled) {
        fill_state(job, pool, ret);
        if (job->result) {
            ret->result = hone_json_copy(job->result);
            hone_pool_defer(pool, free_json, ret->result);
        }
    }
    job_unref(job);
    pthread_mutex_unlock(&jobs->lock);
    return is_cancelled ? hone_fail(err, HONE_E_CANCEL, "cancelled while waiting for %s", id) : 0;
}

static int jobs_cancel(struct hone_jobs *base, const char *id, struct hone_err *err)
{
    struct jobs *jobs = from_base(base);
    pthread_mutex_lock(&jobs->lock);
    struct job *job = find(jobs, id);
    if (job)
        hone_cancel_set(&job->cancel);
    pthread_mutex_unlock(&jobs->lock);
    return job ? 0 : no_job(id, err);
}

static int jobs_list(struct hone_jobs *base, struct hone_pool *pool, struct hone_job_state **ret,
                     size_t *ret_n, struct hone_err *err)
{
    (void)err;
    struct jobs *jobs = from_base(base);
    pthread_mutex_lock(&jobs->lock);
    prune(jobs, HONE_LIMIT_JOBS);
    *ret = hone_pool_alloc(pool, (jobs->n + 1) * sizeof(**ret));
    *ret_n = 0;
    for (const struct job *job = jobs->list; job; job = job->next)
        fill_state(job, pool, &(*ret)[(*ret_n)++]);
    pthread_mutex_unlock(&jobs->lock);
    return 0;
}

static const struct hone_jobs_ops ops = {
    .start = jobs_start,
    .wait = jobs_wait,
    .cancel = jobs_cancel,
    .list = jobs_list,
};

struct hone_jobs *hone_jobs_new(struct hone_app *app, struct hone_workers *lane)
{
    struct jobs *jobs = hone_calloc(1, sizeof(*jobs));
    jobs->base.ops = &ops;
    jobs->app = app;
    jobs->lane = lane;
    pthread_mutex_init(&jobs->lock, NULL);
    return &jobs->base;
}

void hone_jobs_cancel_all(struct hone_jobs *base)
{
    struct jobs *jobs = from_base(base);
    pthread_mutex_lock(&jobs->lock);
    jobs->is_stopping = true;
    for (struct job *job = jobs->list; job; job = job->next)
        hone_cancel_set(&job->cancel);
    pthread_mutex_unlock(&jobs->lock);
}

void hone_jobs_free(struct hone_jobs *base)
{
    if (!base)
        return;
    struct jobs *jobs = from_base(base);
    while (jobs->list) {
        struct job *job = jobs->list;
        jobs->list = job->next;
        job_unref(job);
    }
    pthread_mutex_destroy(&jobs->lock);
    free(jobs);
}
