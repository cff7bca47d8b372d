/* SPDX-License-Identifier: Apache-2.0 */
/* Searches in threads of their own. One mutex guards the table; each slot has its own cancel flag
 * and end condition. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agents/search/search.h"
#include "workspace/base/clock.h"
#include "workspace/base/hash.h"
#include "workspace/base/limits.h"
#include "workspace/base/process.h"

enum { KEPT = 24 }; /* that have ended, at most, beside those that run */

struct slot { /* all members guarded by host->lock, except cancel and what the thread alone uses */
    struct hone_search_host *host;
    char id[20];
    bool is_running, is_told; /* is_told: somebody has seen its end */
    enum hone_job_status status;
    int code; /* that it ended with */
    char message[HONE_ERR_MESSAGE_BYTES];
    int64_t evaluations;
    double best_ratio;
    bool has_result;
    struct hone_search_result result;
    struct hone_pool *pool; /* options and result */
    struct hone_search_options options;
    struct hone_cancel cancel;
    pthread_t thread;
};

struct hone_search_host {
    struct hone_app *app;
    pthread_mutex_t lock;
    pthread_cond_t ended;
    struct slot **slots; /* room for max_running + KEPT */
    size_t n, max_running;
};

int hone_search_host_new(struct hone_app *app, size_t max_running, struct hone_search_host **ret,
                         struct hone_err *err)
{
    struct hone_search_host *h = hone_calloc(1, sizeof(*h));
    pthread_condattr_t attr;
    h->app = app;
    h->max_running = max_running;
    h->slots = hone_calloc(max_running + KEPT, sizeof(*h->slots));
    pthread_mutex_init(&h->lock, NULL);
    if (pthread_condattr_init(&attr) != 0 ||
        pthread_condattr_setclock(&attr, CLOCK_MONOTONIC) != 0 ||
        pthread_cond_init(&h->ended, &attr) != 0) {
        free(h->slots);
        free(h);
        return hone_fail(err, HONE_E_IO, "no condition variable on the monotonic clock");
    }
    pthread_condattr_destroy(&attr);
    *ret = h;
    return 0;
}

static void free_slot(struct slot *slot)
{
    pthread_join(slot->thread, NULL);
    hone_cancel_done(&slot->cancel);
    hone_pool_free(slot->pool);
    free(slot);
}

void hone_search_host_free(struct hone_search_host *host)
{
    if (!host)
        return;
    hone_search_host_stop_all(host);
    for (size_t i = 0; i < host->n; i++)
        free_slot(host->slots[i]);
    pthread_cond_destroy(&host->ended);
    pthread_mutex_destroy(&host->lock);
    free(host->slots);
    free(host);
}

static void on_progress(void *arg, const struct hone_search_progress *p)
{
    struct slot *slot = arg;
    pthread_mutex_lock(&slot->host->lock);
    snprintf(slot->message, sizeof(slot->message), "%s", p->message ? p->message : "");
    slot->evaluations = p->evaluations;
    slot->best_ratio = p->best_ratio;
    pthread_mutex_unlock(&slot->host->lock);
}

static void *run(void *arg)
{
    struct slot *slot = arg;
    struct hone_err err = HONE_ERR_INIT;
    struct hone_search_result result;
    struct hone_tool_ctx ctx = {
        .app = slot->host->app, .pool = slot->pool, .cancel = &slot->cancel, .caller = "search"};
    int r = hone_search_run(&ctx, &slot->options, on_progress, slot, &result, &err);
    pthread_mutex_lock(&slot->host->lock);
    slot->status = r == 0               ? HONE_JOB_DONE
                   : r == HONE_E_CANCEL ? HONE_JOB_CANCELLED
                                        : HONE_JOB_FAILED;
    slot->code = r;
    if (r == 0) {
        slot->result = result;
        slot->has_result = true;
    }
    snprintf(slot->message, sizeof(slot->message), "%s", r == 0 ? result.summary : err.message);
    slot->is_running = false;
    pthread_cond_broadcast(&slot->host->ended);
    pthread_mutex_unlock(&slot->host->lock);
    return NULL;
}

/* Room for one more: the oldest one that has ended goes, first of those whose end was seen. Under
 * the lock. */
static bool make_room(struct hone_search_host *h)
{
    size_t n_running = 0, oldest = h->n;
    for (size_t i = 0; i < h->n; i++) {
        n_running += h->slots[i]->is_running;
        bool is_better = oldest == h->n || (h->slots[i]->is_told && !h->slots[oldest]->is_told);
        if (!h->slots[i]->is_running && is_better)
            oldest = i;
    }
    if (n_running >= h->max_running)
        return false;
    if (h->n < h->max_running + KEPT)
        return true;
    free_slot(h->slots[oldest]);
    memmove(&h->slots[oldest], &h->slots[oldest + 1], (h->n - oldest - 1) * sizeof(struct slot *));
    h->n--;
    return true;
}

static int start_slot(struct hone_search_host *h, const struct hone_search_options *o,
                      struct slot **ret, struct hone_err *err)
{
    struct slot *slot = hone_calloc(1, sizeof(*slot));
    char random[13];
    int r = hone_cancel_init(&slot->cancel, err);
    if (r < 0) {
        free(slot);
        return r;
    }
    hone_random_hex(random, 6);
    snprintf(slot->id, sizeof(slot->id), "search-%s", random);
    slot->host = h;
    slot->is_running = true;
    slot->status = HONE_JOB_RUNNING;
    slot->best_ratio = 1;
    slot->pool = hone_pool_new();
    slot->options = hone_search_options_copy(o, slot->pool);
    r = pthread_create(&slot->thread, NULL, run, slot);
    if (r != 0) {
        hone_cancel_done(&slot->cancel);
        hone_pool_free(slot->pool);
        free(slot);
        return hone_fail_errno(err, r, "a thread for the search");
    }
    *ret = slot;
    return 0;
}

int hone_search_host_start(struct hone_search_host *h, const struct hone_search_options *o,
                           struct hone_pool *pool, const char **ret_id, struct hone_err *err)
{
    if (!o->task)
        return hone_fail_at(err, HONE_E_ARG, "task", "name a task");
    struct slot *slot = NULL;
    int r = hone_search_check_caps(o, err);
    if (r < 0)
        return r;
    pthread_mutex_lock(&h->lock);
    if (!make_room(h))
        r = hone_fail(err, HONE_E_BUSY, "%zu searches run already; stop one or wait",
                      h->max_running);
    if (r == 0)
        r = start_slot(h, o, &slot, err);
    if (r == 0) {
        h->slots[h->n++] = slot;
        *ret_id = hone_pool_strdup(pool, slot->id);
    }
    pthread_mutex_unlock(&h->lock);
    return r;
}

static struct slot *find(struct hone_search_host *h, const char *id)
{
    for (size_t i = 0; i < h->n; i++)
        if (strcmp(h->slots[i]->id, id) == 0)
            return h->slots[i];
    return NULL;
}

int hone_search_host_stop(struct hone_search_host *h, const char *id, struct hone_err *err)
{
    pthread_mutex_lock(&h->lock);
    struct slot *slot = find(h, id);
    if (slot)
        hone_cancel_set(&slot->cancel);
    pthread_mutex_unlock(&h->lock);
    return slot ? 0 : hone_fail(err, HONE_E_NOT_FOUND, "no search '%.40s'", id);
}

void hone_search_host_stop_all(struct hone_search_host *h)
{
    pthread_mutex_lock(&h->lock);
    for (size_t i = 0; i < h->n; i++)
        hone_cancel_set(&h->slots[i]->cancel);
    pthread_mutex_unlock(&h->lock);
}

/* Under the lock. */
static void copy_state(const struct slot *slot, struct hone_pool *pool,
                       struct hone_search_state *ret)
{
    *ret = (struct hone_search_state){
        .id = hone_pool_strdup(pool, slot->id),
        .task = hone_pool_strdup(pool, slot->options.task),
        .status = slot->status,
        .code = slot->code,
        .message = hone_pool_strdup(pool, slot->message),
        .evaluations = slot->evaluations,
        .best_ratio = slot->best_ratio,
        .has_result = slot->has_result,
    };
    if (!slot->has_result)
        return;
    const struct hone_search_result *r = &slot->result;
    struct hone_search_result *out = &ret->result;
    *out = *r;
    out->task = hone_pool_strdup(pool, r->task);
    out->target = hone_pool_strdup(pool, r->target);
    out->name = hone_pool_strdup(pool, r->name);
    out->best_commit = hone_pool_strdup(pool, r->best_commit);
    out->summary = hone_pool_strdup(pool, r->summary);
    out->doubt = hone_pool_strdup(pool, r->doubt);
    out->rests_on = hone_pool_strdup(pool, r->rests_on);
    out->unread = hone_pool_strdup(pool, r->unread);
    out->waited_for = hone_pool_strdup(pool, r->waited_for);
    out->unconfirmed = hone_pool_strdup(pool, r->unconfirmed);
    out->verdicts.v = hone_pool_alloc(pool, (r->verdicts.n + 1) * sizeof(struct hone_search_count));
    if (r->verdicts.n > 0)
        memcpy(out->verdicts.v, r->verdicts.v, r->verdicts.n * sizeof(struct hone_search_count));
    out->yardsticks = hone_yardsticks_copy(&r->yardsticks, pool);
    out->ci.v = hone_pool_alloc(pool, (r->ci.n + 1) * sizeof(double));
    if (r->ci.n > 0)
        memcpy(out->ci.v, r->ci.v, r->ci.n * sizeof(double));
}

int hone_search_host_wait(struct hone_search_host *h, const char *id, int64_t deadline_ns,
                          struct hone_pool *pool, struct hone_search_state *ret,
                          struct hone_err *err)
{
    struct timespec until = {.tv_sec = (time_t)(deadline_ns / HONE_NS_PER_S),
                             .tv_nsec = (long)(deadline_ns % HONE_NS_PER_S)};
    pthread_mutex_lock(&h->lock);
    struct slot *slot = find(h, id);
    int r = 0;
    while (slot && slot->is_running && r == 0) {
        r = pthread_cond_timedwait(&h->ended, &h->lock, &until);
        slot = find(h, id); /* the table may have changed */
    }
    if (slot) {
        copy_state(slot, pool, ret);
        slot->is_told = !slot->is_running;
    }
    pthread_mutex_unlock(&h->lock);
    return slot ? 0 : hone_fail(err, HONE_E_NOT_FOUND, "no search '%.40s'", id);
}

size_t hone_search_host_list(struct hone_search_host *h, struct hone_pool *pool,
                             struct hone_search_state **ret)
{
    pthread_mutex_lock(&h->lock);
    struct hone_search_state *list = hone_pool_alloc(pool, (h->n + 1) * sizeof(*list));
    for (size_t i = 0; i < h->n; i++)
        copy_state(h->slots[i], pool, &list[i]);
    size_t n = h->n;
    pthread_mutex_unlock(&h->lock);
    *ret = list;
    return n;
}
