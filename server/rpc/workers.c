/* SPDX-License-Identifier: Apache-2.0 */
/* Those who wait are a list of lines, one for each turn number; a worker takes from the first line
 * and puts it at the end. */
#include "server/rpc/workers.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include "workspace/base/clock.h"

struct work {
    hone_work_fn *fn;
    void *arg;
    struct work *next;
};

struct line { /* of those who wait: the tasks of one, never empty */
    uint64_t turn;
    struct work *first, **tail;
    struct line *next;
};

struct hone_workers {
    pthread_mutex_t lock;
    pthread_cond_t has_work;  /* lock; CLOCK_MONOTONIC */
    pthread_cond_t is_quiet;  /* lock; CLOCK_MONOTONIC */
    bool is_stopping;         /* lock */
    bool is_waking;           /* lock: a worker was woken and has not looked yet */
    size_t n_threads, n_idle; /* lock */
    size_t n_started;         /* lock: in threads, of which n_threads still run */
    pthread_t *threads;       /* lock; max_threads slots */
    size_t max_threads, max_queued;
    struct line *lines, **lines_tail; /* lock: in the order of their turns */
    size_t n_queued;                  /* lock */
};

static void cond_init(pthread_cond_t *cond)
{
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(cond, &attr);
    pthread_condattr_destroy(&attr);
}

struct hone_workers *hone_workers_new(size_t max_threads, size_t max_queued)
{
    HONE_BUG_ON(max_threads == 0 || max_queued == 0);
    struct hone_workers *workers = hone_calloc(1, sizeof(*workers));
    pthread_mutex_init(&workers->lock, NULL);
    cond_init(&workers->has_work);
    cond_init(&workers->is_quiet);
    workers->max_threads = max_threads;
    workers->max_queued = max_queued;
    workers->threads = hone_calloc(max_threads, sizeof(*workers->threads));
    workers->lines_tail = &workers->lines;
    return workers;
}

/* The tasks below have the lock held. */

static void append_line(struct hone_workers *workers, struct line *line)
{
    line->next = NULL;
    *workers->lines_tail = line;
    workers->lines_tail = &line->next;
}

/* The oldest task of whose turn it is, who then goes to the end. */
static struct work *take(struct hone_workers *workers)
{
    struct line *line = workers->lines;
    struct work *work = line->first;
    workers->lines = line->next;
    if (!workers->lines)
        workers->lines_tail = &workers->lines;
    line->first = work->next;
    workers->n_queued--;
    if (line->first)
        append_line(workers, line);
    else
        free(line);
    return work;
}

static struct line *find_line(struct hone_workers *workers, uint64_t turn)
{
    struct line *line = workers->lines;
    while (line && line->turn != turn)
        line = line->next;
    return line;
}

static void put(struct hone_workers *workers, uint64_t turn, hone_work_fn *fn, void *arg)
{
    struct line *line = find_line(workers, turn);
    struct work *work = hone_calloc(1, sizeof(*work));
    *work = (struct work){.fn = fn, .arg = arg};
    if (!line) {
        line = hone_calloc(1, sizeof(*line));
        line->turn = turn;
        line->tail = &line->first;
        append_line(workers, line);
    }
    *line->tail = work;
    line->tail = &work->next;
    workers->n_queued++;
}

/* One is woken at a time, and wakes the next before it works: in a burst of short tasks few threads
 * do all, and a long one keeps nobody waiting. */
static bool should_wake(struct hone_workers *workers)
{
    bool should = workers->n_queued > 0 && workers->n_idle > 0 && !workers->is_waking;
    workers->is_waking = workers->is_waking || should;
    return should;
}

static void *worker_main(void *arg)
{
    struct hone_workers *workers = arg;
    pthread_mutex_lock(&workers->lock);
    for (;;) {
        while (workers->n_queued == 0 && !workers->is_stopping) {
            workers->n_idle++;
            pthread_cond_wait(&workers->has_work, &workers->lock);
            workers->n_idle--;
            workers->is_waking = false;
        }
        if (workers->n_queued == 0)
            break;
        struct work *work = take(workers);
        bool wakes_next = should_wake(workers);
        pthread_mutex_unlock(&workers->lock);
        if (wakes_next)
            pthread_cond_signal(&workers->has_work);
        work->fn(work->arg);
        free(work);
        pthread_mutex_lock(&workers->lock);
    }
    workers->n_threads--;
    pthread_cond_broadcast(&workers->is_quiet);
    pthread_mutex_unlock(&workers->lock);
    return NULL;
}

/* Called with the lock held. Signals stay with the thread that waits for them. */
static int start_thread(struct hone_workers *workers)
{
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int native = pthread_create(&workers->threads[workers->n_started], NULL, worker_main, workers);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (native == 0) {
        workers->n_threads++;
        workers->n_started++;
    }
    return native;
}

static int submit_locked(struct hone_workers *workers, uint64_t turn, hone_work_fn *fn, void *arg,
                         struct hone_err *err)
{
    size_t shared = workers->max_queued - workers->max_queued / 4;
    if (workers->is_stopping)
        return hone_fail(err, HONE_E_BUSY, "hone is stopping and takes no more work");
    if (workers->n_queued == workers->max_queued ||
        (workers->n_queued >= shared && find_line(workers, turn)))
        return hone_fail(err, HONE_E_BUSY, "%zu calls wait already; try again in a second",
                         workers->n_queued);
    if (workers->n_queued >= workers->n_idle && workers->n_threads < workers->max_threads) {
        int native = start_thread(workers);
        if (native != 0 && workers->n_threads == 0)
            return hone_fail_errno(err, native, "cannot start a worker thread");
    }
    put(workers, turn, fn, arg);
    return 0;
}

int hone_workers_submit(struct hone_workers *workers, uint64_t turn, hone_work_fn *fn, void *arg,
                        struct hone_err *err)
{
    pthread_mutex_lock(&workers->lock);
    int rc = submit_locked(workers, turn, fn, arg, err);
    bool wakes = rc == 0 && should_wake(workers);
    pthread_mutex_unlock(&workers->lock);
    if (wakes) /* after the lock is free, so that who wakes does not wait for it */
        pthread_cond_signal(&workers->has_work);
    return rc;
}

uint64_t hone_turn_of(const char *name, const char *second)
{
    uint64_t hash = 14695981039346656037ull; /* FNV-1a */
    for (const char *c = name; *c; c++)
        hash = (hash ^ (unsigned char)*c) * 1099511628211ull;
    hash = (hash ^ 0xff) * 1099511628211ull;
    for (const char *c = second; *c; c++)
        hash = (hash ^ (unsigned char)*c) * 1099511628211ull;
    return hash;
}

bool hone_workers_stop(struct hone_workers *workers, int64_t deadline_ns)
{
    if (!workers)
        return true;
    struct timespec until = {.tv_sec = deadline_ns / HONE_NS_PER_S,
                             .tv_nsec = deadline_ns % HONE_NS_PER_S};
    pthread_mutex_lock(&workers->lock);
    workers->is_stopping = true;
    pthread_cond_broadcast(&workers->has_work);
    int native = 0;
    while (workers->n_threads > 0 && native == 0)
        native = pthread_cond_timedwait(&workers->is_quiet, &workers->lock, &until);
    bool is_quiet = workers->n_threads == 0;
    size_t n_to_join = is_quiet ? workers->n_started : 0;
    workers->n_started -= n_to_join;
    pthread_mutex_unlock(&workers->lock);
    for (size_t i = 0; i < n_to_join;
         i++) /* libraries clean up after a thread when it really ends */
        pthread_join(workers->threads[i], NULL);
    return is_quiet;
}

void hone_workers_free(struct hone_workers *workers)
{
    if (!workers)
        return;
    pthread_mutex_destroy(&workers->lock);
    pthread_cond_destroy(&workers->has_work);
    pthread_cond_destroy(&workers->is_quiet);
    free(workers->threads);
    free(workers);
}
