/* SPDX-License-Identifier: Apache-2.0 */
/* Answers of a model that are asked for ahead, each on a thread of its own. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "agents/coder/coder_internal.h"
#include "agents/model/journal.h"

struct hone_coder_ask {
    struct hone_pool *pool; /* of the request; the thread leaves it alone */
    struct hone_coder_request request;
    struct hone_journal_ask *ask;
    pthread_t thread;
    bool has_thread; /* without one it was asked at once */
    atomic_bool has_ended;
    int rc; /* these two once it has ended */
    struct hone_err err;
};

static void *run(void *arg)
{
    struct hone_coder_ask *a = arg;
    a->rc = hone_journal_end(a->ask, &a->err);
    atomic_store(&a->has_ended, true);
    return NULL;
}

static void free_ask(struct hone_coder_ask *a)
{
    hone_pool_free(a->pool);
    free(a);
}

bool hone_coder_is_answered(struct hone_coder *coder, const struct hone_coder_work *work)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    return coder->hands && !work->rewrite->apply && coder->setup.journal &&
           hone_journal_has(coder->setup.journal, "coder", coder->hands->key(work, pool));
}

bool hone_coder_is_failing(const struct hone_coder *coder)
{
    return coder->n_faults > 0;
}

int hone_coder_ask_begin(struct hone_coder *coder, const struct hone_coder_work *work,
                         struct hone_model *model, const struct hone_cancel *cancel,
                         struct hone_coder_ask **ret, struct hone_err *err)
{
    *ret = NULL;
    if (!coder->hands || work->rewrite->apply || hone_coder_is_answered(coder, work))
        return 0;
    struct hone_coder_ask *a = hone_calloc(1, sizeof(*a));
    a->pool = hone_pool_new();
    coder->hands->request(coder, work, a->pool, &a->request);
    a->request.request.cancel = cancel;
    int r = hone_journal_begin(coder->setup.journal, "coder", a->request.key, model,
                               &a->request.request, &a->ask, err);
    if (r < 0) {
        free_ask(a);
        return r;
    }
    a->has_thread = pthread_create(&a->thread, NULL, run, a) == 0;
    if (!a->has_thread)
        run(a);
    *ret = a;
    return 0;
}

bool hone_coder_ask_has_ended(const struct hone_coder_ask *ask)
{
    return !ask || atomic_load(&ask->has_ended);
}

int hone_coder_ask_end(struct hone_coder_ask *ask, struct hone_err *err)
{
    if (!ask)
        return 0;
    if (ask->has_thread)
        pthread_join(ask->thread, NULL);
    int r = ask->rc;
    if (r < 0 && err)
        *err = ask->err;
    free_ask(ask);
    return r;
}

/* "llm_G01/7ded6d174d78cc08/0/0/...": rewrite, anchor, variant, number of the repair. */
static bool read_key(const char *key, struct hone_pool *pool, struct hone_coder_begun *ret)
{
    const char *anchor = strchr(key, '/');
    const char *variant = anchor ? strchr(anchor + 1, '/') : NULL;
    char *end = NULL;
    if (!variant)
        return false;
    ret->rewrite = hone_pool_strndup(pool, key, (size_t)(anchor - key));
    ret->anchor = hone_pool_strndup(pool, anchor + 1, (size_t)(variant - anchor - 1));
    ret->variant = (int)strtol(variant + 1, &end, 10);
    return strncmp(end, "/0/", 3) == 0;
}

size_t hone_coder_list_begun(struct hone_coder *coder, struct hone_pool *pool,
                             struct hone_coder_begun **ret)
{
    const char *const *keys = NULL;
    size_t n_keys = coder->hands && coder->setup.journal
                        ? hone_journal_keys(coder->setup.journal, "coder", pool, &keys)
                        : 0;
    struct hone_coder_begun *list = hone_pool_alloc(pool, (n_keys + 1) * sizeof(*list));
    size_t n = 0;
    for (size_t i = 0; i < n_keys; i++)
        n += read_key(keys[i], pool, &list[n]);
    *ret = list;
    return n;
}
