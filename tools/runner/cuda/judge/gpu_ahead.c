/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/runner/cuda/judge/gpu_ahead.h"

#include <pthread.h>
#include <stdlib.h>

struct worker {
    pthread_t thread;
    pthread_mutex_t lock; /* guards all below but what the thread works on while is_busy */
    pthread_cond_t changed;
    bool is_busy, is_ending;
    const void *key; /* NULL: nothing begun, or taken */
    struct hone_cuda_request req;
    struct hone_cuda_compiler *compiler;
    struct hone_pool *pool; /* of the result */
    struct hone_cuda_module module;
    struct hone_outcome end;
    struct hone_err err;
    int code;
};

struct hone_gpu_ahead {
    size_t n;
    struct worker workers[HONE_GPU_AHEAD_MOST];
};

static void *work(void *arg)
{
    struct worker *w = arg;
    pthread_mutex_lock(&w->lock);
    while (!w->is_ending) {
        if (!w->is_busy) {
            pthread_cond_wait(&w->changed, &w->lock);
            continue;
        }
        pthread_mutex_unlock(&w->lock);
        int code = hone_cuda_build(&w->req, w->pool, &w->module, &w->end, &w->err);
        pthread_mutex_lock(&w->lock);
        w->code = code;
        w->is_busy = false;
        pthread_cond_broadcast(&w->changed);
    }
    pthread_mutex_unlock(&w->lock);
    hone_cuda_compiler_stop(w->compiler);
    return NULL;
}

struct hone_gpu_ahead *hone_gpu_ahead_new(int64_t n)
{
    struct hone_gpu_ahead *ahead = hone_calloc(1, sizeof *ahead);
    ahead->n = (size_t)hone_max_i64(hone_min_i64(n, HONE_GPU_AHEAD_MOST), 1);
    for (size_t i = 0; i < ahead->n; i++) {
        struct worker *w = &ahead->workers[i];
        pthread_mutex_init(&w->lock, NULL);
        pthread_cond_init(&w->changed, NULL);
        int code = pthread_create(&w->thread, NULL, work, w);
        HONE_BUG_ON(code != 0);
    }
    return ahead;
}

/* With the lock held. */
static void wait_idle(struct worker *w)
{
    while (w->is_busy)
        pthread_cond_wait(&w->changed, &w->lock);
}

static void end_worker(struct worker *w)
{
    pthread_mutex_lock(&w->lock);
    wait_idle(w);
    w->is_ending = true;
    pthread_cond_broadcast(&w->changed);
    pthread_mutex_unlock(&w->lock);
    pthread_join(w->thread, NULL);
    pthread_mutex_destroy(&w->lock);
    pthread_cond_destroy(&w->changed);
    hone_pool_free(w->pool);
}

void hone_gpu_ahead_free(struct hone_gpu_ahead *ahead)
{
    for (size_t i = 0; ahead != NULL && i < ahead->n; i++)
        end_worker(&ahead->workers[i]);
    free(ahead);
}

static int64_t find(struct hone_gpu_ahead *ahead, const void *key)
{
    for (size_t i = 0; i < ahead->n; i++)
        if (ahead->workers[i].key == key) /* keys are written by the judge's thread alone */
            return (int64_t)i;
    return -1;
}

int64_t hone_gpu_ahead_place(struct hone_gpu_ahead *ahead, const void *key)
{
    return find(ahead, key) >= 0 ? -1 : find(ahead, NULL);
}

void hone_gpu_ahead_begin(struct hone_gpu_ahead *ahead, int64_t place, const void *key,
                          const struct hone_cuda_request *req)
{
    struct worker *w = &ahead->workers[place];
    pthread_mutex_lock(&w->lock);
    wait_idle(w);
    hone_pool_free(w->pool);
    w->pool = hone_pool_new();
    w->key = key;
    w->req = *req;
    w->req.compiler = &w->compiler;
    w->module = (struct hone_cuda_module){0};
    w->end = (struct hone_outcome)HONE_OUTCOME_INIT;
    w->err = (struct hone_err)HONE_ERR_INIT;
    w->is_busy = true;
    pthread_cond_broadcast(&w->changed);
    pthread_mutex_unlock(&w->lock);
}

bool hone_gpu_ahead_take(struct hone_gpu_ahead *ahead, const void *key, struct hone_pool **ret_pool,
                         struct hone_cuda_module *ret, struct hone_outcome *ret_end, int *ret_code,
                         struct hone_err *err)
{
    int64_t place = ahead == NULL || key == NULL ? -1 : find(ahead, key);
    if (place < 0)
        return false;
    struct worker *w = &ahead->workers[place];
    pthread_mutex_lock(&w->lock);
    wait_idle(w);
    *ret_pool = HONE_STEAL(w->pool);
    *ret = w->module;
    *ret_end = w->end;
    *ret_code = w->code;
    if (w->code < 0 && err != NULL)
        *err = w->err;
    w->key = NULL;
    pthread_mutex_unlock(&w->lock);
    return true;
}
