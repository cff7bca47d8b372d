#include "tools/runner/cuda/gpu_ahead.h"

#include <pthread.h>
#include <stdlib.h>

struct hone_gpu_ahead {
    pthread_t thread;
    pthread_mutex_t lock; /* guards all below but what the thread works on while is_busy */
    pthread_cond_t changed;
    bool is_busy, is_ending;
    const void *key; /* NULL: nothing begun, or taken */
    struct hone_cuda_request req;
    struct hone_cuda_compiler *compiler;
    struct hone_pool *pool; /* of the result */
    struct hone_cuda_module module;
    struct hone_end end;
    struct hone_err err;
    int code;
};

static void *work(void *arg)
{
    struct hone_gpu_ahead *ahead = arg;
    pthread_mutex_lock(&ahead->lock);
    while (!ahead->is_ending) {
        if (!ahead->is_busy) {
            pthread_cond_wait(&ahead->changed, &ahead->lock);
            continue;
        }
        pthread_mutex_unlock(&ahead->lock);
        int code =
            hone_cuda_build(&ahead->req, ahead->pool, &ahead->module, &ahead->end, &ahead->err);
        pthread_mutex_lock(&ahead->lock);
        ahead->code = code;
        ahead->is_busy = false;
        pthread_cond_broadcast(&ahead->changed);
    }
    pthread_mutex_unlock(&ahead->lock);
    hone_cuda_compiler_stop(ahead->compiler);
    return NULL;
}

struct hone_gpu_ahead *hone_gpu_ahead_new(void)
{
    struct hone_gpu_ahead *ahead = hone_calloc(1, sizeof *ahead);
    pthread_mutex_init(&ahead->lock, NULL);
    pthread_cond_init(&ahead->changed, NULL);
    int code = pthread_create(&ahead->thread, NULL, work, ahead);
    HONE_BUG_ON(code != 0);
    return ahead;
}

/* With the lock held. */
static void wait_idle(struct hone_gpu_ahead *ahead)
{
    while (ahead->is_busy)
        pthread_cond_wait(&ahead->changed, &ahead->lock);
}

void hone_gpu_ahead_free(struct hone_gpu_ahead *ahead)
{
    if (ahead == NULL)
        return;
    pthread_mutex_lock(&ahead->lock);
    wait_idle(ahead);
    ahead->is_ending = true;
    pthread_cond_broadcast(&ahead->changed);
    pthread_mutex_unlock(&ahead->lock);
    pthread_join(ahead->thread, NULL);
    pthread_mutex_destroy(&ahead->lock);
    pthread_cond_destroy(&ahead->changed);
    hone_pool_free(ahead->pool);
    free(ahead);
}

void hone_gpu_ahead_begin(struct hone_gpu_ahead *ahead, const void *key,
                          const struct hone_cuda_request *req)
{
    pthread_mutex_lock(&ahead->lock);
    wait_idle(ahead);
    hone_pool_free(ahead->pool);
    ahead->pool = hone_pool_new();
    ahead->key = key;
    ahead->req = *req;
    ahead->req.compiler = &ahead->compiler;
    ahead->module = (struct hone_cuda_module){0};
    ahead->end = (struct hone_end)HONE_END_INIT;
    ahead->err = (struct hone_err)HONE_ERR_INIT;
    ahead->is_busy = true;
    pthread_cond_broadcast(&ahead->changed);
    pthread_mutex_unlock(&ahead->lock);
}

bool hone_gpu_ahead_take(struct hone_gpu_ahead *ahead, const void *key, struct hone_pool **ret_pool,
                         struct hone_cuda_module *ret, struct hone_end *ret_end, int *ret_code,
                         struct hone_err *err)
{
    if (ahead == NULL)
        return false;
    pthread_mutex_lock(&ahead->lock);
    wait_idle(ahead);
    bool is_it = ahead->key != NULL && ahead->key == key;
    if (is_it) {
        *ret_pool = HONE_STEAL(ahead->pool);
        *ret = ahead->module;
        *ret_end = ahead->end;
        *ret_code = ahead->code;
        if (ahead->code < 0 && err != NULL)
            *err = ahead->err;
        ahead->key = NULL;
    }
    pthread_mutex_unlock(&ahead->lock);
    return is_it;
}
