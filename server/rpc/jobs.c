/* SPDX-License-Identifier: Apache-2.0 */
/* Background jobs (jobs.h has the states).
 *
 * State: one list of jobs under one lock; a job is counted by the list, by its worker and by
 * those who wait for it, and freed with the last. Waiting is on a condition variable with a
 * deadline. A tool that asks waits on its worker for answers, the cancel flag or ASK_MS; what it
 * waits for is in `asked`, what it got in `answers`. prune drops finished jobs by age and number each time one is added. */
#include "server/rpc/jobs.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include "server/exchange/ask.h"
#include "workspace/base/clock.h"
#include "workspace/base/hash.h"
#include "workspace/base/limits.h"
#include "workspace/base/log.h"

#define ASK_MS (10 * 60 * 1000) /* a person may have to be found */

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
    struct hone_json *able; /* of the client that answers; NULL: nobody does */
    struct hone_cancel cancel;
    enum hone_job_status status; /* owner->lock, and all below */
    double done, total;
    char message[200];
    struct hone_json *answers, *asked; /* by key; asked: requests */
    int asked_fd;                      /* -1: nothing was asked yet */
    struct hone_json *result;          /* written once, then only read */
    enum hone_code code;               /* of a failure without an answer */
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
    if (job->asked_fd >= 0)
        close(job->asked_fd);
    hone_json_free(job->args);
    hone_json_free(job->able);
    hone_json_free(job->answers);
    hone_json_free(job->asked);
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

/* ---- questions ---- */

/* Fills in what was answered and notes the rest as asked. Lock held. */
static int note_asks(struct job *job, struct hone_pool *pool, struct hone_ask *asks, size_t n,
                     struct hone_err *err)
{
    for (size_t i = 0; i < n; i++) {
        const struct hone_json *answer = hone_json_get(job->answers, asks[i].key);
        if (answer != NULL)
            hone_ask_fill(&asks[i], answer, pool);
        else if (hone_ask_can(job->able, &asks[i]))
            hone_json_set(job->asked, asks[i].key, hone_ask_request(&asks[i]));
        else if (!asks[i].is_optional)
            return hone_fail(err, HONE_E_UNSUPPORTED, "the client does not declare %.*s",
                             (int)strcspn(asks[i].method, "/"), asks[i].method);
    }
    return 0;
}

/* Waits until nothing is asked any more. Lock held, but for the waiting. */
static int wait_for_answers(struct job *job, struct hone_err *err)
{
    struct jobs *jobs = job->owner;
    int64_t deadline_ns = hone_deadline_in_ms(ASK_MS);
    while (hone_json_size(job->asked) > 0) {
        struct pollfd fds[2] = {{.fd = job->asked_fd, .events = POLLIN},
                                {.fd = job->cancel.event_fd, .events = POLLIN}};
        eventfd_t count;
        pthread_mutex_unlock(&jobs->lock);
        poll(fds, HONE_COUNTOF(fds), hone_ms_until(deadline_ns));
        pthread_mutex_lock(&jobs->lock);
        eventfd_read(job->asked_fd, &count);
        if (hone_cancel_is_set(&job->cancel))
            return hone_fail(err, HONE_E_CANCEL, "cancelled while the client was asked");
        if (hone_now_ns() >= deadline_ns && hone_json_size(job->asked) > 0)
            return hone_fail(err, HONE_E_TIMEOUT, "the client did not answer");
    }
    return 0;
}

static int ask_job(struct hone_tool_ctx *ctx, struct hone_ask *asks, size_t n, struct hone_err *err)
{
    struct job *job = ctx->ask_arg;
    struct jobs *jobs = job->owner;
    pthread_mutex_lock(&jobs->lock);
    if (job->asked_fd < 0)
        job->asked_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    int rc = job->asked_fd < 0 ? hone_fail_errno(err, errno, "cannot wait for answers")
                               : note_asks(job, ctx->pool, asks, n, err);
    job->updated_ms = hone_wall_ms();
    if (rc == 0)
        rc = wait_for_answers(job, err);
    if (rc == 0)
        rc = note_asks(job, ctx->pool, asks, n, err);
    hone_json_free(job->asked);
    job->asked = hone_json_new_object();
    job->updated_ms = hone_wall_ms();
    pthread_mutex_unlock(&jobs->lock);
    return rc;
}

/* Takes the answers that are asked for. Lock held. */
static void take_answers(struct job *job, const struct hone_json *answers)
{
    for (const struct hone_json *a = hone_json_first(answers); a != NULL; a = hone_json_next(a)) {
        HONE_AUTOJSON struct hone_json *asked = hone_json_detach(job->asked, hone_json_key(a));
        if (asked == NULL)
            continue;
        hone_json_set(job->answers, hone_json_key(a), hone_json_copy(a));
        job->updated_ms = hone_wall_ms();
    }
    if (hone_json_size(job->asked) == 0 && job->asked_fd >= 0)
        eventfd_write(job->asked_fd, 1);
}

static int check_answers(const struct job *job, const struct hone_json *answers,
                         struct hone_err *err)
{
    for (const struct hone_json *a = hone_json_first(answers); a != NULL; a = hone_json_next(a)) {
        const struct hone_json *asked = hone_json_get(job->asked, hone_json_key(a));
        if (asked != NULL && hone_ask_check(hone_json_get_str(asked, "method", ""), a, err) < 0)
            return hone_wrap(err, "params.inputResponses.%s", hone_json_key(a));
    }
    return 0;
}

static int no_job(const char *id, struct hone_err *err)
{
    return hone_fail(err, HONE_E_NOT_FOUND,
                     "no job '%.40s'; finished ones are kept for an hour and none survives a "
                     "restart (history_show does)",
                     id);
}

static int jobs_answer(struct hone_jobs *base, const char *id, const struct hone_json *answers,
                       struct hone_err *err)
{
    struct jobs *jobs = from_base(base);
    pthread_mutex_lock(&jobs->lock);
    struct job *job = find(jobs, id);
    int rc = job != NULL ? check_answers(job, answers, err) : no_job(id, err);
    if (rc == 0)
        take_answers(job, answers);
    pthread_mutex_unlock(&jobs->lock);
    return rc;
}

/* ---- running ---- */

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
        .ask = job->able != NULL ? ask_job : NULL,
        .ask_arg = job,
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

static int job_new(struct jobs *jobs, const struct hone_job_spec *spec, struct job **ret,
                   struct hone_err *err)
{
    char random[17];
    struct job *job = hone_calloc(1, sizeof(*job));
    int rc = hone_cancel_init(&job->cancel, err);
    if (rc < 0) {
        free(job);
        return rc;
    }
    hone_random_hex(random, 6);
    snprintf(job->id, sizeof(job->id), "job-%s", random);
    job->owner = jobs;
    job->created_ms = job->updated_ms = hone_wall_ms();
    job->n_refs = 2;
    job->tool = hone_strdup(spec->tool);
    job->args = spec->args ? hone_json_copy(spec->args) : NULL;
    job->caller = hone_strdup(spec->caller ? spec->caller : "unknown");
    job->able = spec->able ? hone_json_copy(spec->able) : NULL;
    job->answers = spec->answers ? hone_json_copy(spec->answers) : hone_json_new_object();
    job->asked = hone_json_new_object();
    job->asked_fd = -1;
    *ret = job;
    return 0;
}

static int jobs_start(struct hone_jobs *base, const struct hone_job_spec *spec,
                      struct hone_pool *pool, const char **ret_id, struct hone_err *err)
{
    struct jobs *jobs = from_base(base);
    struct job *job;
    int rc = job_new(jobs, spec, &job, err);
    if (rc < 0)
        return rc;
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

static struct hone_json *copy_into(struct hone_pool *pool, const struct hone_json *value)
{
    struct hone_json *copy = value != NULL ? hone_json_copy(value) : NULL;
    hone_pool_defer(pool, free_json, copy);
    return copy;
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
        ret->result = copy_into(pool, job->result);
        ret->asked = hone_json_size(job->asked) > 0 ? copy_into(pool, job->asked) : NULL;
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
    .answer = jobs_answer,
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
