/* SPDX-License-Identifier: Apache-2.0 */
/* Who holds device memory in the judge's context, and what goes first (gpu_held.h). Everything that
 * is held is one row of a walk over the session: place, size, time of its last use, whose it is. */
#include "tools/runner/cuda/judge/gpu_held.h"

#include <stdio.h>
#include <string.h>

#include "tools/runner/cuda/judge/gpu_reference.h"

#define RESERVE_SHARE 32 /* of the device: contexts that come up, scratch, heaps of kernels */

enum kind { ROOM, ANSWERS, WORKING };
static const char *const kind_names[] = {
    [ROOM] = "buffers", [ANSWERS] = "answers", [WORKING] = "working memory"};

struct item {
    enum kind kind;
    int64_t bytes;
    uint64_t used;
    const char *task; /* NULL: of no task */
    struct hone_gpu_room *room;
    struct hone_gpu_reference *reference;
    struct hone_gpu_buffer *buffer;
};
typedef void item_fn(void *arg, const struct item *item);

static void walk(struct hone_gpu_session *session, item_fn *look, void *arg)
{
    struct hone_gpu_buffer *buffers[] = {&session->flush, &session->list, &session->records,
                                         &session->copy};
    for (size_t k = 0; k < HONE_GPU_ROOM_CLASSES; k++) {
        for (size_t owner = 0; owner <= HONE_RUNNER_MAX_ARMS; owner++) {
            for (size_t t = 0; t < HONE_LIMIT_TENSORS; t++) {
                struct hone_gpu_room *room = &session->rooms[k][owner][t];
                const struct item item = {
                    ROOM, (int64_t)room->range.size, room->used, room->task, room, NULL, NULL};
                if (item.bytes > 0)
                    look(arg, &item);
            }
        }
    }
    for (struct hone_gpu_reference *r = session->references; r != NULL; r = r->next) {
        const struct item item = {ANSWERS, r->bytes, r->used, r->task, NULL, r, NULL};
        look(arg, &item);
    }
    for (size_t i = 0; i < HONE_COUNTOF(buffers); i++) {
        const struct item item = {WORKING, buffers[i]->size, buffers[i]->used, NULL, NULL,
                                  NULL,    buffers[i]};
        if (item.bytes > 0)
            look(arg, &item);
    }
}

/* ---- giving back ---- */

struct search {
    const struct hone_gpu_session *session;
    uint64_t last_answer; /* the time at which the answer that may be in use was asked for */
    struct item oldest;
    bool has_any;
};

static void find_last_answer(void *arg, const struct item *item)
{
    struct search *search = arg;
    if (item->kind == ANSWERS && item->used > search->last_answer)
        search->last_answer = item->used;
}

static bool is_in_use(const struct search *search, const struct item *item)
{
    const struct hone_gpu_session *session = search->session;
    const uint64_t since[] = {[ROOM] = session->frame_since,
                              [ANSWERS] = search->last_answer,
                              [WORKING] = session->job_since};
    return session->job_since > 0 && item->used >= since[item->kind];
}

static void find_oldest(void *arg, const struct item *item)
{
    struct search *search = arg;
    if (is_in_use(search, item) || (search->has_any && item->used >= search->oldest.used))
        return;
    search->oldest = *item;
    search->has_any = true;
}

static void drop(struct hone_gpu_session *session, const struct item *item)
{
    if (item->room != NULL) {
        hone_gpu_range_done(&session->device, &item->room->range);
        *item->room = (struct hone_gpu_room){.range = {.fd = -1}};
    } else if (item->reference != NULL) {
        hone_gpu_reference_drop(session, item->reference);
    } else {
        (void)session->cu->MemFree(item->buffer->base);
        *item->buffer = (struct hone_gpu_buffer){0};
    }
}

/* false: nothing is left that is not in use. What is queued may still write to it, so the caller
 * has waited. */
static bool drop_oldest(struct hone_gpu_session *session)
{
    struct search search = {.session = session};
    walk(session, find_last_answer, &search);
    walk(session, find_oldest, &search);
    if (search.has_any)
        drop(session, &search.oldest);
    return search.has_any;
}

static int64_t free_bytes(struct hone_gpu_session *session)
{
    size_t n_free = 0, n_all = 0;
    return session->cu->MemGetInfo(&n_free, &n_all) == HONE_CU_SUCCESS ? (int64_t)n_free : 0;
}

int hone_gpu_held_make_free(struct hone_gpu_session *session, int64_t bytes, struct hone_err *err)
{
    int64_t wanted = bytes + session->device.memory_bytes / RESERVE_SHARE;
    if (free_bytes(session) >= wanted)
        return 0;
    int code = hone_gpu_sync(session, err);
    while (code == 0 && free_bytes(session) < wanted && drop_oldest(session))
        ;
    return code;
}

static void add_up(void *arg, const struct item *item)
{
    int64_t *sum = arg;
    *sum += item->bytes;
}

int64_t hone_gpu_held_bytes(const struct hone_gpu_session *session)
{
    int64_t sum = 0;
    struct hone_gpu_session *walked = NULL; /* the walk changes nothing here */
    memcpy(&walked, &session, sizeof walked);
    walk(walked, add_up, &sum);
    return sum;
}

int64_t hone_gpu_held_to_have(struct hone_gpu_session *session)
{
    return free_bytes(session) + hone_gpu_held_bytes(session);
}

void hone_gpu_held_begin_job(struct hone_gpu_session *session, const char *task)
{
    session->job_since = session->frame_since = ++session->clock;
    session->host_pace.spent_ns = 0;
    snprintf(session->task, sizeof session->task, "%s", task);
}

void hone_gpu_held_begin_frame(struct hone_gpu_session *session)
{
    session->frame_since = ++session->clock;
}

void hone_gpu_held_end_job(struct hone_gpu_session *session)
{
    int64_t most = session->device.memory_bytes * HONE_LIMIT_GPU_HELD_PERCENT / 100;
    session->job_since = 0;
    if (session->is_broken || hone_gpu_sync(session, NULL) < 0)
        return; /* the context goes as a whole */
    while (hone_gpu_held_bytes(session) > most && drop_oldest(session))
        ;
}

void hone_gpu_held_free(struct hone_gpu_session *session)
{
    session->job_since = 0;
    while (drop_oldest(session))
        ;
}

/* ---- taking ---- */

struct sums { /* for the message: by kind, and of other tasks */
    const struct hone_gpu_session *session;
    int64_t by_kind[HONE_COUNTOF(kind_names)], others;
};

static void sum_up(void *arg, const struct item *item)
{
    struct sums *sums = arg;
    sums->by_kind[item->kind] += item->bytes;
    if (item->task != NULL && strcmp(item->task, sums->session->task) != 0)
        sums->others += item->bytes;
}

static int explain(struct hone_gpu_session *session, int64_t bytes, const char *what,
                   struct hone_err *err)
{
    struct sums sums = {.session = session};
    char held[160];
    walk(session, sum_up, &sums);
    int n = 0;
    for (size_t k = 0; k < HONE_COUNTOF(kind_names); k++)
        n += snprintf(held + n, sizeof held - (size_t)n, "%s%s %lld", k > 0 ? ", " : "",
                      kind_names[k], (long long)(sums.by_kind[k] >> 20));
    return hone_fail(
        err, HONE_E_NOMEM,
        "%s of task '%s': %lld MiB wanted, %lld of the device's %lld free; this "
        "process holds %s (%lld of it of other tasks), after giving back all it could;"
        " the rest is held by arenas and other processes",
        what, session->task, (long long)(bytes >> 20), (long long)(free_bytes(session) >> 20),
        (long long)(session->device.memory_bytes >> 20), held, (long long)(sums.others >> 20));
}

/* Gives back all that is not in use. */
static int drop_all(struct hone_gpu_session *session, struct hone_err *err)
{
    int code = hone_gpu_sync(session, err);
    while (code == 0 && drop_oldest(session))
        ;
    return code;
}

int hone_gpu_held_room(struct hone_gpu_session *session, struct hone_gpu_room *room, int64_t bytes,
                       struct hone_err *err)
{
    struct hone_err why = HONE_ERR_INIT;
    int code = hone_gpu_sync(session, err); /* what is queued may still write to it */
    if (code < 0)
        return code;
    if (room->range.size > 0)
        hone_gpu_range_done(&session->device, &room->range);
    *room = (struct hone_gpu_room){.range = {.fd = -1}};
    code = hone_gpu_held_make_free(session, bytes, err);
    if (code < 0)
        return code;
    code = hone_gpu_range_new(&session->device, (size_t)bytes, &room->range, &why);
    if (code < 0 && why.native == HONE_CU_OUT_OF_MEMORY) {
        code = drop_all(session, err);
        if (code < 0)
            return code;
        code = hone_gpu_range_new(&session->device, (size_t)bytes, &room->range, &why);
    }
    if (code == 0) {
        room->used = ++session->clock;
        memcpy(room->task, session->task, sizeof room->task);
        return 0;
    }
    room->range = (struct hone_gpu_range){.fd = -1};
    if (why.native == HONE_CU_OUT_OF_MEMORY)
        return explain(session, bytes, "a buffer", err);
    if (err != NULL)
        *err = why;
    return code;
}

int hone_gpu_held_alloc(struct hone_gpu_session *session, int64_t bytes, const char *what,
                        hone_cu_ptr *ret, struct hone_err *err)
{
    int code = hone_gpu_held_make_free(session, bytes, err);
    if (code < 0)
        return code;
    hone_cu_result result = session->cu->MemAlloc(ret, (size_t)bytes);
    if (result == HONE_CU_OUT_OF_MEMORY) {
        code = drop_all(session, err);
        if (code < 0)
            return code;
        result = session->cu->MemAlloc(ret, (size_t)bytes);
    }
    return result == HONE_CU_OUT_OF_MEMORY ? explain(session, bytes, what, err)
                                           : hone_gpu_check(session, result, what, err);
}
